/* global_graph.h: the edges of all ranks: who sends to whom, each pair once, without loops. A bit
 * matrix when it is dense, lists when it is sparse. Filled rank by rank, then frozen. */
#ifndef SK_GLOBAL_GRAPH_H
#define SK_GLOBAL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct sk_global_graph sk_global_graph;

/* `edges`: an upper bound of the number of pairs; decides the form. NULL: out of memory. */
sk_global_graph *sk_global_graph_new(int nranks, int64_t edges);
void sk_global_graph_free(sk_global_graph *w);
int64_t sk_global_graph_bytes(int nranks, int64_t edges); /* memory it takes */

/* The targets of a rank: ascending, each once, not itself (sk_graph.targets). Once per rank. */
sk_status sk_global_graph_add(sk_global_graph *w, int rank, const int *targets, int n);
sk_status
sk_global_graph_freeze(sk_global_graph *w); /* ranks that were not added have no targets */

int sk_global_graph_nranks(const sk_global_graph *w);
int64_t sk_global_graph_edges(const sk_global_graph *w);
bool sk_global_graph_has(const sk_global_graph *w, int from, int to);
int sk_global_graph_degree(const sk_global_graph *w, int rank, bool in);

/* The neighbours of a rank, ascending, into an array of sk_global_graph_degree ints. */
void sk_global_graph_targets(const sk_global_graph *w, int rank, int *out);
void sk_global_graph_sources(const sk_global_graph *w, int rank, int *out);

#endif
