/* graph.h: the neighbours of one rank, in the order of their blocks in the user's buffers.
 * Cartesian, graph and distributed graph topologies all become this one type. Immutable. */
#ifndef SK_GRAPH_H
#define SK_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    SK_PROC_NULL = -1
}; /* as MPI_PROC_NULL, beyond the border of a grid: the block is not sent, or not touched */

/* An edge is one entry of the list of neighbours, so one block. Several edges may lead to the same
 * rank (parallel edges), and a rank may be its own neighbour. */
typedef struct sk_graph {
    int nranks, rank;
    int nin, nout;
    int *in, *out; /* rank of each edge, or SK_PROC_NULL */

    /* Edges sorted by rank, parallel edges in the order in which they match: edge number k from s to
     * d is the k-th edge of d in out_sorted of s, and the k-th edge of s in in_sorted of d. Without
     * SK_PROC_NULL, so these may be shorter. */
    int nin_sorted, nout_sorted;
    int *in_sorted, *out_sorted;

    /* The ranks that are neighbours, each once, ascending, without this rank. */
    int nsources, ntargets;
    int *sources, *targets;
} sk_graph;

/* From the lists as MPI gives them, which are copied. `cartesian`: edges 2i and 2i+1 are the two
 * directions of dimension i, and match as graph.c says. */
sk_status sk_graph_new(int nranks, int rank, int nin, const int *in, int nout, const int *out,
                       bool cartesian, sk_graph **out_graph);
void sk_graph_free(sk_graph *g);

/* The edges of a neighbour: in_sorted[*first .. *first + result - 1]; result 0: it is none. */
int sk_graph_in_edges(const sk_graph *g, int source, int *first);
int sk_graph_out_edges(const sk_graph *g, int target, int *first);

/* Most edges from this rank to one of its targets. */
int sk_graph_parallel(const sk_graph *g);

#endif
