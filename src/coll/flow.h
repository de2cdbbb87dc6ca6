/* flow.h: who sends how much to whom in one call of an algorithm, all rounds together. It tells
 * what leaves a node without building the schedules of all ranks. It is the same on every rank, so
 * all ranks of a call make the same decision about renaming.
 *
 * Bytes are counted in blocks of equal size, or in parts of the vector. Where the sizes of blocks
 * differ and all ranks know them (allgatherv, reduce_scatter), they are data bytes. */
#ifndef SK_FLOW_H
#define SK_FLOW_H

#include "coll/call.h"

typedef struct sk_off_node {
    int64_t messages, bytes;
} sk_off_node;

typedef struct sk_flow {
    int n;                /* members: all ranks */
    int first;            /* the name of member 0 */
    const int *node;      /* of each name */
    const int64_t *start; /* n + 1: where the blocks start, by name; NULL: they are all alike */
    sk_off_node sum;
} sk_flow;

/* Between two members, in either direction. */
void sk_flow_pass(sk_flow *f, int a, int b, int64_t messages, int64_t bytes);

/* The bytes of `n` blocks from `lo` on, round the end. */
int64_t sk_flow_blocks(const sk_flow *f, int lo, int n);

/* What the builders of phase/p2p.h send: all blocks, round a ring or by recursive doubling; and,
 * over each edge of a binomial tree from the root of the call, the blocks below it, or one
 * message. */
void sk_flow_ring(sk_flow *f, const sk_call *c);
void sk_flow_doubling(sk_flow *f, const sk_call *c);
void sk_flow_tree_blocks(sk_flow *f, const sk_call *c);
void sk_flow_tree_message(sk_flow *f, const sk_call *c);

/* Is x better than y: fewer bytes, or as many in fewer messages? */
static inline bool sk_off_node_less(sk_off_node x, sk_off_node y)
{
    return x.bytes < y.bytes || (x.bytes == y.bytes && x.messages < y.messages);
}

#endif
