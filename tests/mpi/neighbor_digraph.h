/* neighbor_digraph.h: random directed graphs with parallel edges and loops, drawn alike on all ranks,
 * and the topologies made of them. */
#ifndef NEIGHBOR_DIGRAPH_H
#define NEIGHBOR_DIGRAPH_H

#include "testlib.h"

typedef struct digraph {
    int n;                /* ranks */
    unsigned char *times; /* edges from s to d: times[s * n + d] */
    char text[60];
} digraph;

digraph digraph_draw(rng *shared, int n);
void digraph_mirror(digraph *w); /* make it symmetric, as MPI_Graph_create expects */
void digraph_free(digraph *w);
int digraph_edges(const digraph *w);
int digraph_weight(int from, int to); /* of an edge, equal on all ranks */

/* The neighbours of one rank with their weights, in an order of its own. */
typedef struct lists {
    int nin, nout, *in, *out, *in_weights, *out_weights;
} lists;

lists lists_draw(const digraph *w, int rank, rng *local);
void lists_free(lists *l);

typedef struct digraph_options {
    MPI_Info info;
    bool reorder, weighted;
} digraph_options;

/* Three ways to make the topology: each rank gives its own edges (MPI_Dist_graph_create_adjacent); any
 * rank gives any edge, drawn alike on all ranks (MPI_Dist_graph_create); all ranks give all edges
 * (MPI_Graph_create). The communicator is null on ranks that the graph does not have. */
MPI_Comm digraph_make_adjacent(const lists *l, MPI_Comm base, digraph_options how);
MPI_Comm digraph_make_dist(const digraph *w, rng *shared, MPI_Comm base, digraph_options how);
MPI_Comm digraph_make_graph(const digraph *w, MPI_Comm base, bool reorder);

#endif
