/* calls.h: the arguments of the collectives as the benchmark calls them: buffers, counts, types.
 *
 * `bytes` is one block for scatter, gather, allgather and alltoall (in their v and w forms the
 * average: blocks of one half and three halves alternate), and the whole vector for bcast and the
 * reductions (reduce_scatter_block: rounded up to a multiple of the ranks). The root is 0.
 * Neighbourhood collectives: a block, as for allgather and alltoall. */
#ifndef SK_BENCH_CALLS_H
#define SK_BENCH_CALLS_H

#include <mpi.h>
#include <stddef.h>

#include "bench/conditions.h"
#include "coll/call.h"
#include "topo/graph.h"

/* A communicator with the neighbours of a graph. */
typedef struct sk_neighbors {
    MPI_Comm comm;
    sk_graph *graph; /* of this rank */
} sk_neighbors;

/* Collective over MPI_COMM_WORLD. False, at all ranks, after a message: there is no such graph. */
bool sk_neighbors_new(const char *spec, int rank, int nranks, sk_neighbors *out);
void sk_neighbors_free(sk_neighbors *n);

/* Collective over MPI_COMM_WORLD. By the host's call if `host`, else by Skein's. */
bool sk_neighbors_comm(const sk_graph *g, bool host, MPI_Comm *out);

typedef struct sk_case {
    sk_coll coll;
    int64_t bytes;
    int rank, nranks;
    sk_form form;
    sk_buffer_use buffers;
    MPI_Comm comm[2];       /* Skein's, the host's */
    MPI_Request request[2]; /* of the call under way, or the persistent one */
    MPI_Datatype type;      /* integers, so that results are exact in any order */
    int elem;               /* its size */
    int n;                  /* elements of a block or vector */
    int *scounts, *sdispls, *rcounts, *rdispls; /* v forms: in elements; alltoallw: bytes */
    MPI_Datatype *types;                        /* alltoallw */
    MPI_Aint *sbytes, *rbytes;                  /* neighbor_alltoallw: displacements */
    const sk_neighbors *neighborhood;           /* neighbourhood collectives, else NULL */
    char *send, *recv;                          /* NULL where this rank has none */
    size_t send_bytes, recv_bytes;
    size_t check_bytes;          /* of recv: those that the standard defines */
    char *send_pool, *recv_pool; /* where the buffers are */
    size_t pools, pool;          /* how many pairs of buffers; the present one */
} sk_case;

/* NULL when out of memory. Local: no communication. */
sk_case *sk_case_neighbor_new(sk_coll coll, int64_t bytes, const sk_neighbors *neighborhood,
                              const sk_conditions *conditions);
sk_case *sk_case_new(sk_coll coll, int64_t bytes, int rank, int nranks,
                     const sk_conditions *conditions);
void sk_case_free(sk_case *c);

/* An upper bound of the buffer memory of a rank, with the copy for comparing. Fresh buffers:
 * sk_case_pool_bytes more. */
double sk_case_pool_bytes(int nranks);
double sk_case_neighbor_memory(sk_coll coll, int64_t bytes, const sk_neighbors *neighborhood);
double sk_case_memory(sk_coll coll, int64_t bytes, int nranks);

/* Fills the inputs, and overwrites an earlier result. */
void sk_case_reset(const sk_case *c);

/* Writes the right result of a neighbourhood collective, check_bytes bytes, to `out`. */
void sk_case_neighbor_expect(const sk_case *c, char *out);

/* Before a call that is timed: writes what it sends, or takes other buffers; see sk_buffer_use. */
void sk_case_prepare(sk_case *c);

#endif
