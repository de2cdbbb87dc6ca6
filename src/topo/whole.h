/* whole.h: the whole graph in one place: who sends to whom, each pair once, without loops. Bits
 * when it is dense, lists when it is sparse. Filled rank by rank, then frozen. */
#ifndef SK_WHOLE_H
#define SK_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct sk_whole sk_whole;

/* `edges`: how many pairs there will be at most; decides the form. NULL: out of memory. */
sk_whole *sk_whole_new(int nranks, int64_t edges);
void sk_whole_free(sk_whole *w);
int64_t sk_whole_bytes(int nranks, int64_t edges); /* memory that sk_whole_new and freeze take */

/* The targets of a rank: ascending, each once, not itself (sk_graph.targets). Once per rank. */
sk_status sk_whole_add(sk_whole *w, int rank, const int *targets, int n);
sk_status sk_whole_freeze(sk_whole *w); /* ranks that were not added have no targets */

int sk_whole_nranks(const sk_whole *w);
int64_t sk_whole_edges(const sk_whole *w);
bool sk_whole_has(const sk_whole *w, int from, int to);
int sk_whole_degree(const sk_whole *w, int rank, bool in);

/* The neighbours of a rank, ascending, into room for sk_whole_degree ints. */
void sk_whole_targets(const sk_whole *w, int rank, int *out);
void sk_whole_sources(const sk_whole *w, int rank, int *out);

/* The targets of a rank as bits, (nranks + 63) / 64 words; NULL when the graph is kept as lists. */
const uint64_t *sk_whole_row(const sk_whole *w, int rank);

#endif
