/* neighbors.h: a communicator with the neighbours of a graph. */
#ifndef SK_NEIGHBORS_H
#define SK_NEIGHBORS_H

#include <mpi.h>

#include "topo/graph.h"

typedef struct sk_neighbors {
    MPI_Comm comm;
    sk_graph *graph; /* of this rank */
} sk_neighbors;

/* Collective over MPI_COMM_WORLD. False, at all ranks, after a message: the graph cannot be made.
 */
bool sk_neighbors_new(const char *spec, int rank, int nranks, sk_neighbors *out);
void sk_neighbors_free(sk_neighbors *n);

#endif
