/* node.h: what the two forms of the per-node method share: once the neighbours of all ranks of a
 * node are known, the patterns of these ranks follow. */
#ifndef SK_PATTERN_NODE_H
#define SK_PATTERN_NODE_H

#include "topo/machine.h"
#include "neighbor/method.h"

typedef struct sk_ranks {
    int n;
    int *rank;
} sk_ranks;

enum { SK_TARGETS, SK_SOURCES };

/* The neighbours of the ranks of a node. A mate is one of these ranks; mates are counted from 0 as
 * they stand in the machine's order. */
typedef struct sk_mates {
    int node, n;
    sk_ranks *near[2]; /* of each mate: its targets, its sources */
} sk_mates;

/* No neighbours at first. After a failure there is nothing to drop. */
sk_status sk_mates_init(sk_mates *a, const sk_machine *m, int node);
void sk_mates_drop(sk_mates *a);
sk_status sk_mates_set(sk_mates *a, int mate, int way, const int *ranks, int n); /* copies them */

static inline int sk_mate_of(const sk_machine *m, int rank)
{
    return m->place[rank] - m->node_first[m->node[rank]];
}

/* patterns[i]: that of mate i, filled but not frozen; NULL: not wanted. */
sk_status sk_node_fill(const sk_machine *m, const bool *idle, const sk_mates *a,
                       sk_pattern **patterns);

sk_party *sk_node_party(const sk_graph *g, const sk_machine *m, const sk_pattern_opts *o);

#endif
