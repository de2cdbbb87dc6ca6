/* graph.h: my neighbours, in the order in which their blocks stand in the user's buffers.
 * Cartesian, graph and distributed graph topologies all become this one type. Immutable. */
#ifndef SK_GRAPH_H
#define SK_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    SK_PROC_NULL = -1
}; /* beyond the border of a grid: a block that is not sent or not touched */

/* A edge is one neighbour of the list, so one block. The same rank may stand in several edges
 * (parallel edges), and a rank may be its own neighbour. */
typedef struct sk_graph {
    int nranks, rank;
    int nin, nout;
    int *in, *out; /* rank of each edge, or SK_PROC_NULL */

    /* Slots sorted by rank, those of one rank in the order in which parallel edges match: edge
     * number k from s to d is the k-th edge of d in s's out_sorted and the k-th edge of s in d's
     * in_sorted. SK_PROC_NULL is left out, so these may be shorter. */
    int nin_sorted, nout_sorted;
    int *in_sorted, *out_sorted;

    /* Ranks that are neighbours, each once, ascending, without myself. */
    int nsources, ntargets;
    int *sources, *targets;
} sk_graph;

/* From the lists as MPI gives them. Copies them. `cartesian`: edges 2i and 2i+1 are the two
 * directions of dimension i; see cart.c for how their edges match. */
sk_status sk_graph_new(int nranks, int rank, int nin, const int *in, int nout, const int *out,
                       bool cartesian, sk_graph **out_graph);
void sk_graph_free(sk_graph *g);

/* The neighbours of a rank in a grid, 2 per dimension, in the standard's order: in dimension 0 the
 * neighbour below, then the one above; then dimension 1... Ranks are counted in row-major order. */
sk_status sk_graph_cart(int ndims, const int *dims, const int *periods, int rank, sk_graph **out);

/* The edges of a neighbour: in_sorted[*first .. *first + result - 1]; 0: it is none. */
int sk_graph_in_edges(const sk_graph *g, int source, int *first);
int sk_graph_out_edges(const sk_graph *g, int target, int *first);

/* Most edges from this rank to one of its targets. */
int sk_graph_parallel(const sk_graph *g);

#endif
