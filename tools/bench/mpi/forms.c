/* forms.c: see forms.h. */
#include "bench/mpi/forms.h"

#include <stdlib.h>

/* Persistent collectives: MPI 4's, or those that Open MPI 4 had before them. */
#if BENCH_HAS_INIT
#define INIT(MPI, Name) MPI##_##Name##_init
#elif BENCH_HAS_MPIX_INIT
#include <mpi-ext.h>
#define INIT(MPI, Name) MPI##X_##Name##_init
#else
#define INIT(MPI, Name) no_init
#define no_init(...)    (abort(), MPI_SUCCESS) /* sk_form_exists says so before */
#endif

bool sk_form_exists(sk_form form)
{
    return form != SK_PERSISTENT || BENCH_HAS_INIT || BENCH_HAS_MPIX_INIT;
}

/* One row per collective; all forms get the same arguments. */
#define CALLS(X)                                                                                   \
    X(BARRIER, Barrier, barrier, comm)                                                             \
    X(BCAST, Bcast, bcast, c->recv, c->n, c->type, 0, comm)                                        \
    X(SCATTER, Scatter, scatter, c->send, c->n, c->type, c->recv, c->n, c->type, 0, comm)          \
    X(SCATTERV, Scatterv, scatterv, c->send, c->scounts, c->sdispls, c->type, c->recv,             \
      c->rcounts[0], c->type, 0, comm)                                                             \
    X(GATHER, Gather, gather, c->send, c->n, c->type, c->recv, c->n, c->type, 0, comm)             \
    X(GATHERV, Gatherv, gatherv, c->send, c->scounts[0], c->type, c->recv, c->rcounts, c->rdispls, \
      c->type, 0, comm)                                                                            \
    X(ALLGATHER, Allgather, allgather, c->send, c->n, c->type, c->recv, c->n, c->type, comm)       \
    X(ALLGATHERV, Allgatherv, allgatherv, c->send, c->scounts[0], c->type, c->recv, c->rcounts,    \
      c->rdispls, c->type, comm)                                                                   \
    X(ALLTOALL, Alltoall, alltoall, c->send, c->n, c->type, c->recv, c->n, c->type, comm)          \
    X(ALLTOALLV, Alltoallv, alltoallv, c->send, c->scounts, c->sdispls, c->type, c->recv,          \
      c->rcounts, c->rdispls, c->type, comm)                                                       \
    X(ALLTOALLW, Alltoallw, alltoallw, c->send, c->scounts, c->sdispls, c->types, c->recv,         \
      c->rcounts, c->rdispls, c->types, comm)                                                      \
    X(REDUCE, Reduce, reduce, c->send, c->recv, c->n, c->type, MPI_SUM, 0, comm)                   \
    X(ALLREDUCE, Allreduce, allreduce, c->send, c->recv, c->n, c->type, MPI_SUM, comm)             \
    X(REDUCE_SCATTER, Reduce_scatter, reduce_scatter, c->send, c->recv, c->rcounts, c->type,       \
      MPI_SUM, comm)                                                                               \
    X(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, reduce_scatter_block, c->send, c->recv, c->n,    \
      c->type, MPI_SUM, comm)                                                                      \
    X(SCAN, Scan, scan, c->send, c->recv, c->n, c->type, MPI_SUM, comm)                            \
    X(EXSCAN, Exscan, exscan, c->send, c->recv, c->n, c->type, MPI_SUM, comm)                      \
    X(NEIGHBOR_ALLGATHER, Neighbor_allgather, neighbor_allgather, c->send, c->n, c->type, c->recv, \
      c->n, c->type, comm)                                                                         \
    X(NEIGHBOR_ALLGATHERV, Neighbor_allgatherv, neighbor_allgatherv, c->send, c->scounts[0],       \
      c->type, c->recv, c->rcounts, c->rdispls, c->type, comm)                                     \
    X(NEIGHBOR_ALLTOALL, Neighbor_alltoall, neighbor_alltoall, c->send, c->n, c->type, c->recv,    \
      c->n, c->type, comm)                                                                         \
    X(NEIGHBOR_ALLTOALLV, Neighbor_alltoallv, neighbor_alltoallv, c->send, c->scounts, c->sdispls, \
      c->type, c->recv, c->rcounts, c->rdispls, c->type, comm)                                     \
    X(NEIGHBOR_ALLTOALLW, Neighbor_alltoallw, neighbor_alltoallw, c->send, c->scounts, c->sbytes,  \
      c->types, c->recv, c->rcounts, c->rbytes, c->types, comm)

#define WAY(form, host) (2 * (form) + (host))

/* Makes the call, starts it, or makes its persistent request. */
#define X(ID, Name, name, ...)                                                                     \
    static int call_##Name(const sk_case *c, int way, MPI_Comm comm, MPI_Request *q)               \
    {                                                                                              \
        (void)c;                                                                                   \
        switch (way) {                                                                             \
        case WAY(SK_BLOCKING, false):                                                              \
            return MPI_##Name(__VA_ARGS__);                                                        \
        case WAY(SK_BLOCKING, true):                                                               \
            return PMPI_##Name(__VA_ARGS__);                                                       \
        case WAY(SK_NONBLOCKING, false):                                                           \
            return MPI_I##name(__VA_ARGS__, q);                                                    \
        case WAY(SK_NONBLOCKING, true):                                                            \
            return PMPI_I##name(__VA_ARGS__, q);                                                   \
        case WAY(SK_PERSISTENT, false):                                                            \
            return INIT(MPI, Name)(__VA_ARGS__, MPI_INFO_NULL, q);                                 \
        default:                                                                                   \
            return INIT(PMPI, Name)(__VA_ARGS__, MPI_INFO_NULL, q);                                \
        }                                                                                          \
    }
CALLS(X)
#undef X

static void call(sk_case *c, int way, MPI_Comm comm, MPI_Request *q)
{
    static int (*const calls[SK_NCOLLS])(const sk_case *, int, MPI_Comm, MPI_Request *) = {
#define X(ID, Name, name, ...) [SK_##ID] = call_##Name,
        CALLS(X)
#undef X
    };
    calls[c->coll](c, way, comm, q);
}

static void call_in_form(sk_case *c, bool host)
{
    call(c, WAY(c->form, host), c->comm[host], &c->request[host]);
}

void sk_case_agree(const sk_case *c)
{
    if (c->form == SK_NONBLOCKING)
        MPI_Barrier(c->comm[0]);
}

void sk_case_run_blocking_host(sk_case *c)
{
    call(c, WAY(SK_BLOCKING, true), MPI_COMM_WORLD, NULL);
}

void sk_case_start(sk_case *c, bool host)
{
    if (c->form != SK_PERSISTENT)
        call_in_form(c, host);
    else if (host)
        PMPI_Start(&c->request[host]);
    else
        MPI_Start(&c->request[host]);
}

void sk_case_wait(sk_case *c, bool host)
{
    if (c->form == SK_BLOCKING)
        return;
    if (host)
        PMPI_Wait(&c->request[host], MPI_STATUS_IGNORE);
    else
        MPI_Wait(&c->request[host], MPI_STATUS_IGNORE);
}

void sk_case_run(sk_case *c, bool host)
{
    sk_case_start(c, host);
    sk_case_wait(c, host);
}

void sk_case_bind(sk_case *c, bool host, MPI_Comm comm)
{
    c->comm[host] = comm;
    if (c->form == SK_PERSISTENT)
        call_in_form(c, host);
}

void sk_case_unbind(sk_case *c, bool host)
{
    if (c->form != SK_PERSISTENT)
        return;
    if (host)
        PMPI_Request_free(&c->request[host]);
    else
        MPI_Request_free(&c->request[host]);
}

MPI_Comm sk_case_new_comm(const sk_case *c, bool host)
{
    MPI_Comm comm;
    if (c->neighborhood)
        sk_neighbors_comm(c->neighborhood->graph, host, &comm);
    else if (host)
        PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

void sk_case_free_comm(MPI_Comm comm, bool host)
{
    if (host)
        PMPI_Comm_free(&comm);
    else
        MPI_Comm_free(&comm);
}
