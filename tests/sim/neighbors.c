/* neighbors.c: neighbourhood collectives of many simulated ranks on a random graph, against values
 * computed here. The program is linked with libskein-smpi.a, which also brings the graph, since the
 * simulator has none; it ends with status 1 on any wrong value, and prints the simulated time.
 *   neighbors [DENSITY [BYTES [ITERATIONS]]] */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct graph {
    int size, rank, nin, nout, *in, *out;
    MPI_Comm comm;
} graph;

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = (a << 32 ^ b) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 27);
}

static int is_edge(int from, int to, double density)
{
    return from != to && (double)(mix((uint64_t)from, (uint64_t)to) >> 11) * 0x1p-53 < density;
}

static graph graph_new(double density)
{
    graph g = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &g.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &g.size);
    g.in = malloc((size_t)g.size * sizeof *g.in);
    g.out = malloc((size_t)g.size * sizeof *g.out);
    for (int r = 0; r < g.size; r++) {
        if (is_edge(r, g.rank, density))
            g.in[g.nin++] = r;
        if (is_edge(g.rank, r, density))
            g.out[g.nout++] = r;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, g.nin, g.in, MPI_UNWEIGHTED, g.nout, g.out,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g.comm);
    return g;
}

static int wrong_queries(const graph *g)
{
    int kind = 0, nin = -1, nout = -1, weighted = 1;
    size_t room = (size_t)g->size * sizeof(int);
    int *in = malloc(room), *out = malloc(room);
    MPI_Topo_test(g->comm, &kind);
    MPI_Dist_graph_neighbors_count(g->comm, &nin, &nout, &weighted);
    int bad = kind != MPI_DIST_GRAPH || nin != g->nin || nout != g->nout || weighted;
    if (!bad) {
        MPI_Dist_graph_neighbors(g->comm, nin, in, MPI_UNWEIGHTED, nout, out, MPI_UNWEIGHTED);
        bad = memcmp(in, g->in, (size_t)nin * sizeof *in) != 0 ||
              memcmp(out, g->out, (size_t)nout * sizeof *out) != 0;
    }
    free(in);
    free(out);
    return bad;
}

/* Byte i of what one rank has for another. */
static unsigned char value(int from, int to, int i)
{
    return (unsigned char)(mix((uint64_t)from, (uint64_t)to) + (uint64_t)i * 7);
}

static void fill(unsigned char *block, int n, int from, int to)
{
    for (int i = 0; i < n; i++)
        block[i] = value(from, to, i);
}

static int wrong_bytes(const unsigned char *block, int n, int from, int to)
{
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += block[i] != value(from, to, i);
    return bad;
}

/* The time of a call is that of its slowest rank, and the least of all calls: some of them plan. All ranks begin at one
 * time, which the simulator's clock allows: after a barrier they would differ by some us. */
static double begin(void)
{
    double now = MPI_Wtime(), start = 0;
    PMPI_Allreduce(&now, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double wait = start + 1e-3 - MPI_Wtime(); /* longer than the allreduce takes */
    struct timespec rest = {.tv_nsec = (long)(wait * 1e9)};
    nanosleep(&rest, NULL);
    return MPI_Wtime();
}

static void end(double since, double *least)
{
    double mine = MPI_Wtime() - since, most = 0;
    PMPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (most < *least)
        *least = most;
}

static int wrong_allgather(const graph *g, int bytes, int iterations, double *seconds)
{
    unsigned char *mine = malloc((size_t)bytes + 1),
                  *all = calloc((size_t)g->nin + 1, (size_t)bytes + 1);
    int bad = 0;
    fill(mine, bytes, g->rank, 0);
    for (int i = 0; i < iterations; i++) {
        memset(all, 0, (size_t)g->nin * (size_t)bytes);
        double since = begin();
        MPI_Neighbor_allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, g->comm);
        end(since, seconds);
    }
    for (int k = 0; k < g->nin; k++)
        bad += wrong_bytes(all + (size_t)k * (size_t)bytes, bytes, g->in[k], 0);
    free(mine);
    free(all);
    return bad;
}

static int edge_bytes(int from, int to, int bytes)
{
    return (int)(mix((uint64_t)to, (uint64_t)from) % (2 * (uint64_t)bytes + 1));
}

typedef struct blocks {
    int *counts, *displs;
    unsigned char *bytes;
    size_t total;
} blocks;

static blocks blocks_new(const graph *g, const int *ends, int n, int incoming, int bytes)
{
    blocks b = {.counts = malloc(((size_t)n + 1) * sizeof(int)),
                .displs = malloc(((size_t)n + 1) * sizeof(int))};
    for (int k = 0; k < n; k++) {
        b.displs[k] = (int)b.total;
        b.counts[k] =
            incoming ? edge_bytes(ends[k], g->rank, bytes) : edge_bytes(g->rank, ends[k], bytes);
        b.total += (size_t)b.counts[k];
    }
    b.bytes = calloc(b.total + 1, 1);
    return b;
}

static void blocks_free(blocks *b)
{
    free(b->counts);
    free(b->displs);
    free(b->bytes);
}

static int wrong_alltoallv(const graph *g, int bytes, int iterations, double *seconds)
{
    blocks to = blocks_new(g, g->out, g->nout, 0, bytes),
           from = blocks_new(g, g->in, g->nin, 1, bytes);
    int bad = 0;
    for (int k = 0; k < g->nout; k++)
        fill(to.bytes + to.displs[k], to.counts[k], g->rank, g->out[k]);
    for (int i = 0; i < iterations; i++) {
        memset(from.bytes, 0, from.total);
        double since = begin();
        MPI_Neighbor_alltoallv(to.bytes, to.counts, to.displs, MPI_BYTE, from.bytes, from.counts,
                               from.displs, MPI_BYTE, g->comm);
        end(since, seconds);
    }
    for (int k = 0; k < g->nin; k++)
        bad += wrong_bytes(from.bytes + from.displs[k], from.counts[k], g->in[k], g->rank);
    blocks_free(&to);
    blocks_free(&from);
    return bad;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double density = argc > 1 ? atof(argv[1]) : 0.3, gather = 1e9, alltoall = 1e9;
    int bytes = argc > 2 ? atoi(argv[2]) : 32, iterations = argc > 3 ? atoi(argv[3]) : 3, all = 0;
    graph g = graph_new(density);
    int queries = wrong_queries(&g);
    int a = wrong_allgather(&g, bytes, iterations, &gather);
    int b = wrong_alltoallv(&g, bytes, iterations, &alltoall), bad = queries + a + b;
    if (bad > 0)
        printf("rank %d: %d wrong queries, %d wrong bytes in allgather, %d in alltoallv\n", g.rank,
               queries, a, b);
    PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (g.rank == 0)
        printf("%d ranks, %d wrong values; density %g, %d bytes: simulated %.1f us per "
               "neighbor_allgather, %.1f us per neighbor_alltoallv\n",
               g.size, all, density, bytes, gather * 1e6, alltoall * 1e6);
    MPI_Comm_free(&g.comm);
    free(g.in);
    free(g.out);
    MPI_Finalize();
    return all != 0;
}
