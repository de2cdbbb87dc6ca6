/* calls.h: the collectives as the benchmark calls them: buffers, counts, and the two calls, MPI_X
 * (Skein when it is loaded) and PMPI_X (the host MPI), with the same arguments.
 *
 * `bytes` is one block for scatter, gather, allgather and alltoall (in their v and w forms the
 * average: blocks of one half and three halves alternate), and the whole vector for bcast and the
 * reductions (reduce_scatter_block: rounded up to a multiple of the ranks). The root is 0.
 * Neighbourhood collectives: a block, as for allgather and alltoall. */
#ifndef SK_BENCH_CALLS_H
#define SK_BENCH_CALLS_H

#include <mpi.h>
#include <stddef.h>

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

typedef struct sk_case {
    sk_coll coll;
    int64_t bytes;
    int rank, nranks;
    MPI_Datatype type; /* integers, so that results are exact in any order */
    int elem;          /* its size */
    int n;             /* elements of a block or vector */
    int *scounts, *sdispls, *rcounts, *rdispls; /* v forms: in elements; alltoallw: bytes */
    MPI_Datatype *types;                        /* alltoallw */
    MPI_Aint *sbytes, *rbytes;                  /* neighbor_alltoallw: displacements */
    const sk_neighbors *neighborhood;           /* neighbourhood collectives, else NULL */
    char *send, *recv;                          /* NULL where this rank has none */
    size_t send_bytes, recv_bytes;
    size_t check_bytes; /* of recv: those that the standard defines */
} sk_case;

/* NULL when out of memory. Local: no communication. */
sk_case *sk_case_neighbor_new(sk_coll coll, int64_t bytes, const sk_neighbors *neighborhood);
sk_case *sk_case_new(sk_coll coll, int64_t bytes, int rank, int nranks);
void sk_case_free(sk_case *c);

/* An upper bound of the buffer memory of a rank, with the copy for comparing. */
double sk_case_neighbor_memory(sk_coll coll, int64_t bytes, const sk_neighbors *neighborhood);
double sk_case_memory(sk_coll coll, int64_t bytes, int nranks);

/* Fills the inputs, and overwrites an earlier result. */
void sk_case_reset(const sk_case *c);

/* Writes the right result of a neighbourhood collective, check_bytes bytes, to `out`. */
void sk_case_neighbor_expect(const sk_case *c, char *out);

/* Makes the call: PMPI_X if `host`, else MPI_X. */
int sk_case_run(const sk_case *c, bool host);

#endif
