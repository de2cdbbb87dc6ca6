#include "mpi/dispatch/gathered.h"

#include <stdlib.h>

sk_gathered sk_gather_bytes(const void *mine, size_t n)
{
    int nranks = sk_proc.world_size, root = sk_proc.world_rank == 0;
    int bytes = n < INT32_MAX / 2 ? (int)n : 0;
    sk_gathered g = {.counts = calloc((size_t)nranks * 2, sizeof *g.counts)};
    if (!g.counts)
        sk_host.Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM); /* the others wait */
    g.at = g.counts + nranks;
    sk_host.Gather(&bytes, 1, MPI_INT, g.counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    int64_t sum = 0;
    for (int i = 0; root && i < nranks; i++) {
        g.counts[i] = sum + g.counts[i] <= INT32_MAX / 2 ? g.counts[i] : 0;
        g.at[i] = (int)sum;
        sum += g.counts[i];
    }
    /* All ranks must know who is left out. */
    sk_host.Scatter(g.counts, 1, MPI_INT, &bytes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (root && !(g.bytes = malloc((size_t)sum + 1)))
        sk_host.Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    sk_host.Gatherv(mine, bytes, MPI_BYTE, g.bytes, g.counts, g.at, MPI_BYTE, 0, MPI_COMM_WORLD);
    return g;
}

void sk_gathered_free(sk_gathered *g)
{
    free(g->bytes);
    free(g->counts);
    *g = (sk_gathered){0};
}
