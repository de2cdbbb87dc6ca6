/* riders.h: blocks whose sizes only their two ends know (scatterv, gatherv, alltoallv, alltoallw), on several nodes.
 *
 * A short block rides: on a node in a cell of a slot, with its length before it, and between nodes in a packet. A
 * longer one goes straight. Both ends know its size, so both agree, and leaders need not know. */
#ifndef SK_PHASE_RIDERS_H
#define SK_PHASE_RIDERS_H

#include "coll/claim.h"
#include "coll/phase/hier.h"

typedef struct sk_riders {
    int64_t
        most; /* bytes of a block that rides; 0: the cells do not fit into a slot, or there is none */
    int64_t cells;
} sk_riders;

/* Where a slot has so many cells. */
sk_riders sk_riders_of(const sk_call *c, int64_t cells);
int64_t sk_riders_slot_bytes(const sk_riders *x);

static inline bool sk_riders_take(const sk_riders *x, sk_span block)
{
    return block.len > 0 && block.len <= x->most;
}

static inline bool sk_riders_refuse(const sk_riders *x, sk_span block)
{
    return block.len > x->most;
}

/* The place of a block of `len` bytes in a cell of my slot, of that of a rank from which I take, or of the common
 * one; the whole cell. */
sk_span sk_riders_slot(const sk_riders *x, int epoch, int64_t cell, int64_t len);
sk_span sk_riders_common(const sk_riders *x, int epoch, int64_t cell, int64_t len);

/* Fill my cell of the common slot; a block that does not ride leaves it empty. `none` is a packet without records. */
void sk_riders_fill(sk_sched *s, const sk_riders *x, sk_span block, int epoch, int64_t cell,
                    int none);

/* ---- scatterv and gatherv ----
 * Packets go along a tree of leaders, of which the root is the first; straight to and from the root, if that is best for
 * blocks of any size. Keys number the ranks node by node, from the root's
 * node on, so that a member's subtree has the keys from its first one to that of the next member. */
sk_riders sk_riders_rooted(const sk_call *c); /* a cell for each local rank */
bool sk_riders_rooted_fits(const sk_call *c);
int64_t sk_riders_rooted_longest(const sk_call *c);
void sk_riders_rooted_claim(const sk_cost_case *k, sk_cost *c);
sk_tree sk_riders_tree(const sk_hier *l);
int sk_riders_first_key(const sk_hier *l, int member);
int sk_riders_rank(const sk_hier *l, int key);

/* A packet for the blocks of a subtree. */
int sk_riders_packet(sk_hier *l, const sk_riders *x, const sk_edge *above);

#endif
