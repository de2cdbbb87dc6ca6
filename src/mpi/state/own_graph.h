/* own_graph.h: graph topologies for a host that has none (SK_HAVE_GRAPHS 0). A topology is an
 * attribute of a communicator that duplicates share. abi/own_topo.c has the MPI calls. */
#ifndef SK_OWN_GRAPH_H
#define SK_OWN_GRAPH_H

#include "mpi/state/process.h"
#include "topo/graph.h"

#if !SK_HAVE_GRAPHS
typedef struct sk_own_graph {
    int users; /* communicators; a rank of this host is one thread */
    int kind;  /* MPI_GRAPH or MPI_DIST_GRAPH */
    int nin, nout, weighted;
    int *in, *out, *in_weights, *out_weights;
    int nnodes, nedges; /* MPI_GRAPH: the whole graph, as given */
    int *index, *edges;
} sk_own_graph;

void sk_own_graph_start(void);                  /* creates the attribute key */
sk_own_graph *sk_own_graph_find(MPI_Comm comm); /* NULL: none */
bool sk_own_graph_read(MPI_Comm comm, int nranks, int rank, sk_graph **out);
#endif

#endif
