/* pairs.h: patterns by pairs of nodes: all that goes from one node to another, for the methods in which both nodes
 * compute the same from the neighbours of their own ranks. A method gives a function that adds the blocks of a
 * pair to the patterns; blocks that stay on a node go straight to their target.
 *
 * Set-up by messages: clerk.c. */
#ifndef SK_PAIRS_H
#define SK_PAIRS_H

#include "neighbor/method.h"

typedef struct sk_node_fill {
    const sk_machine *m;
    const bool *idle;
    int node;              /* whose ranks have the patterns */
    sk_pattern **patterns; /* of each local rank; NULL: not wanted */
} sk_node_fill;

typedef struct sk_node_pair { /* all blocks from one node to another, not the same */
    int from, to, distance;   /* distance: of the nodes' numbers, round the end, from 0 */
    sk_block *blocks;         /* in any order; may be reordered */
    size_t n;                 /* at least 1 */
} sk_node_pair;

typedef sk_status (*sk_pair_filler)(const sk_node_fill *f, const sk_node_pair *p);

/* The blocks from one node to another, which are not the same, to the patterns. At least one block. */
sk_status sk_pair_fill(const sk_node_fill *f, int from, int to, sk_block *blocks, size_t n,
                       sk_pair_filler fill);

/* Adds one hop of a block to the patterns of its ends, as far as these are on this node. */
void sk_pair_hop(const sk_node_fill *f, int stage, int from, int to, sk_block block);

/* The two forms of a method. */
sk_status sk_pairs_plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                        const int *ranks, int n, sk_pair_filler fill, sk_pattern **out);
sk_negotiator *sk_pairs_negotiator(const sk_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                                   sk_method_id id, sk_pair_filler fill);

#endif
