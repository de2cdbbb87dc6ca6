/* node.h: what the two forms of the per-node method share: once the neighbours of all ranks of a
 * node are known, the patterns of these ranks follow. */
#ifndef SK_PATTERN_NODE_H
#define SK_PATTERN_NODE_H

#include "neighbor/method.h"
#include "topo/machine.h"

typedef struct sk_ranks {
    int n;
    int *rank;
} sk_ranks;

enum { SK_TARGETS, SK_SOURCES };

/* The neighbours of the ranks of a node. A local rank is one of these ranks; local ranks are counted from 0 as
 * they stand in the machine's order. */
typedef struct sk_local_ranks {
    int node, n;
    sk_ranks *intra[2]; /* of each local rank: its targets, its sources */
} sk_local_ranks;

/* No neighbours at first. After a failure there is nothing to drop. */
sk_status sk_local_ranks_init(sk_local_ranks *a, const sk_machine *m, int node);
void sk_local_ranks_drop(sk_local_ranks *a);
sk_status sk_local_ranks_set(sk_local_ranks *a, int local_rank, int way, const int *ranks,
                             int n); /* copies them */

static inline int sk_local_rank_of(const sk_machine *m, int rank)
{
    return m->place[rank] - m->node_first[m->node[rank]];
}

/* patterns[i]: that of local rank i, filled but not frozen; NULL: not wanted. */
sk_status sk_node_fill(const sk_machine *m, const bool *idle, const sk_local_ranks *a,
                       sk_pattern **patterns);

sk_negotiator *sk_node_negotiator(const sk_graph *g, const sk_machine *m, const sk_pattern_opts *o);

#endif
