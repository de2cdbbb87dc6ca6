/* flight.c: see flight.h. */
#include "flight.h"

#include <stdlib.h>

enum { BARRIER, ALLREDUCE, ALLTOALL, REDUCE_SCATTER };
static const struct {
    const char *name;
    int what, n;
} kinds[FLIGHT_KINDS] = {
    {"ibarrier", BARRIER, 0},
    {"iallreduce of 4 B", ALLREDUCE, 1},
    {"iallreduce of 256 KB", ALLREDUCE, 65536},
    {"ialltoall of 4 B", ALLTOALL, 1},
    {"ialltoall of 128 KB blocks", ALLTOALL, 32768},
    {"ireduce_scatter_block of 64 KB blocks", REDUCE_SCATTER, 16384},
};

const char *flight_name(int kind)
{
    return kinds[kind].name;
}

/* Value that rank `from` has at index i of what it sends to rank `to`. */
static int value(int from, int to, int i)
{
    return from * 1000 + to * 10 + i % 7;
}

void flight_start(flight *f, int kind, MPI_Comm comm)
{
    *f = (flight){.kind = kind, .n = kinds[kind].n};
    MPI_Comm_size(comm, &f->size);
    MPI_Comm_rank(comm, &f->rank);
    int what = kinds[kind].what, blocks = what == ALLREDUCE ? 1 : f->size;
    size_t total = (size_t)f->n * (size_t)f->size;
    f->send = must_alloc(total * sizeof(int));
    f->recv = must_alloc(total * sizeof(int));
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < f->n; i++)
            f->send[b * f->n + i] = value(f->rank, b, i);
    if (what == BARRIER)
        MPI_Ibarrier(comm, &f->req);
    else if (what == ALLREDUCE)
        MPI_Iallreduce(f->send, f->recv, f->n, MPI_INT, MPI_SUM, comm, &f->req);
    else if (what == ALLTOALL)
        MPI_Ialltoall(f->send, f->n, MPI_INT, f->recv, f->n, MPI_INT, comm, &f->req);
    else
        MPI_Ireduce_scatter_block(f->send, f->recv, f->n, MPI_INT, MPI_SUM, comm, &f->req);
}

/* Sum over all ranks of what they have for `to` at index i. */
static int sum(const flight *f, int to, int i)
{
    int s = 0;
    for (int r = 0; r < f->size; r++)
        s += value(r, to, i);
    return s;
}

static int expected(const flight *f, int block, int i)
{
    switch (kinds[f->kind].what) {
    case ALLREDUCE:
        return sum(f, 0, i);
    case ALLTOALL:
        return value(block, f->rank, i);
    default:
        return sum(f, f->rank, i);
    }
}

void flight_land(flight *f)
{
    int blocks = kinds[f->kind].what == ALLTOALL ? f->size : 1, bad = 0;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < f->n; i++)
            bad += f->recv[b * f->n + i] != expected(f, b, i);
    CHECK(bad == 0, "%s: %d wrong values", flight_name(f->kind), bad);
    CHECK(f->req == MPI_REQUEST_NULL, "%s: the request is not null when done",
          flight_name(f->kind));
    free(f->send);
    free(f->recv);
}
