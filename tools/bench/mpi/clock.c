/* clock.c: offsets by ping-pong: of many exchanges the fastest one tells most about the offset,
 * because the least of it can be waiting. */
#include "bench/mpi/clock.h"

#include <float.h>
#include <mpi.h>

enum { PINGS = 50 };

static int one_machine(void)
{
    MPI_Comm node;
    int here, all;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_size(node, &here);
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    PMPI_Comm_free(&node);
    int mine = here == all, one;
    PMPI_Allreduce(&mine, &one, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return one;
}

static void answer(const sk_clock *c, int peer)
{
    for (int i = 0; i < PINGS; i++) {
        PMPI_Recv(NULL, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double now = sk_clock_now(c);
        PMPI_Send(&now, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    }
}

static double ask(const sk_clock *c)
{
    double best = DBL_MAX, offset = 0;
    for (int i = 0; i < PINGS; i++) {
        double theirs, before = sk_clock_now(c);
        PMPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        PMPI_Recv(&theirs, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double after = sk_clock_now(c);
        if (after - before < best) {
            best = after - before;
            offset = theirs - (before + after) / 2;
        }
    }
    return offset;
}

sk_clock sk_clock_new(void)
{
    sk_clock c = {0};
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (one_machine())
        return c;
    for (int r = 1; r < size; r++) {
        if (rank == 0)
            answer(&c, r);
        else if (rank == r)
            c.offset = ask(&c);
        PMPI_Barrier(MPI_COMM_WORLD);
    }
    return c;
}
