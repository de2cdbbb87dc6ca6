/* p2p.h: builders that several algorithms share, made of messages. A builder appends rounds to a
 * schedule. It starts and ends inside a round: the caller fences before and after where its own
 * data needs it. */
#ifndef SK_PHASE_P2P_H
#define SK_PHASE_P2P_H

#include "coll/phase/blocks.h"
#include "coll/tuning.h"

/* ---- who takes part ----
 * All ranks, or those of a list, numbered as members: member 0 is entry `first`, and the others
 * follow in order, round the end. */
typedef struct sk_team {
    int n, me, first;
    const int *ranks; /* NULL: all ranks */
} sk_team;

sk_team sk_team_all(const sk_call *c, int first);
int sk_team_rank(const sk_team *t, int member);

/* ---- data in n parts ----
 * Part i is what member i contributes or receives. The parts are packed in one span in this order,
 * or (loose) are blocks wherever they lie. */
typedef struct sk_parts {
    const sk_type *types;
    sk_span all; /* starts with part `first` */
    int first;
    int64_t least, more;  /* part i is `least` units long, and one more if i < more */
    int64_t unit;         /* bytes */
    const sk_blocks *row; /* or: part i is as long as block i of this row */
    bool loose;
} sk_parts;

/* `all` in n parts of whole units, as even as possible: the first (units mod n) are one unit
 * longer. A unit is the bytes that must stay together: the type's size, or 1 where `all` may be
 * cut anywhere. */
sk_parts sk_parts_even(const sk_call *c, sk_span all, int n, int64_t unit);

/* `all` holds the parts from `first` on, all of them `bytes` long. */
sk_parts sk_parts_equal(const sk_call *c, sk_span all, int first, int64_t bytes);

/* `all` holds these blocks; `r` must outlive the parts. */
sk_parts sk_parts_blocks(const sk_blocks *r, sk_span all);

/* The blocks where they lie: only for ranges of one part. */
sk_parts sk_parts_loose(const sk_blocks *r);

/* Parts [lo, hi). */
sk_span sk_parts_range(const sk_parts *x, int lo, int hi);

/* ---- allgather ----
 * Before: part i is in place at member i. After: all parts are in place at every member. */

/* n-1 rounds; in every round one part to the right. */
void sk_allgather_by_ring(sk_sched *s, const sk_team *t, const sk_parts *x);

/* Recursive doubling, any n: lg n rounds for a power of two, at most 2 floor(lg n) otherwise. */
void sk_allgather_by_doubling(sk_sched *s, const sk_team *t, const sk_parts *x);

/* Upper bound of the scratch for all blocks of an allgather(v), packed. */
int64_t sk_allgather_scratch(const sk_call *c);

/* ---- binomial tree ----
 * Member 0 is the root. The subtree of a member is a range of members that starts with itself.
 * Kids are in rising order: kid k is member me + 2^k. */
enum { SK_TREE_KIDS = 31 };

typedef struct sk_edge {
    int rank;   /* at the other end */
    int lo, hi; /* the members below this edge */
    sk_span at; /* what goes over it */
} sk_edge;

typedef struct sk_tree {
    sk_edge up; /* my edge to my parent: rank is -1 at the root; lo is me, [lo, hi) my subtree */
    sk_edge kid[SK_TREE_KIDS];
    int nkids;
} sk_tree;

/* My parent and kids; the spans of the edges are still empty. */
sk_tree sk_tree_of(const sk_team *t);

/* Every edge carries the parts of the members below it. */
void sk_tree_carry(sk_tree *t, const sk_parts *x);

/* Scatter and broadcast, from the root to the leaves: receive, then send to the kids, the largest
 * subtree first. */
void sk_tree_down(sk_sched *s, const sk_tree *t);

/* Gather, from the leaves to the root: receive from the kids, the smallest subtree first, then
 * send. */
void sk_tree_up(sk_sched *s, const sk_tree *t);

/* Upper bound of the scratch for blocks that go along a tree: those of my subtree or, at the root,
 * those of each kid's subtree, allocated separately. */
int64_t sk_tree_scratch(const sk_call *c);

/* sk_tree_of, sk_tree_carry and sk_tree_down: every member gets the parts of its subtree. */
void sk_scatter_by_tree(sk_sched *s, const sk_team *t, const sk_parts *x);

/* The block from which on a root sends to or receives from each rank itself (scatter, gather). */
int64_t sk_linear_cutoff(int p, const sk_machine *m);

/* ---- blocks whose sizes only the root and their owner know (scatterv, gatherv) ----
 * A block of at most SK_TREE_PACKET_BLOCK bytes travels ("rides") in packets along the tree, with
 * its member as key. A longer one goes straight between its owner and the root: both know its
 * size, so both agree. */

static inline bool sk_rides(sk_span block)
{
    return block.len > 0 && block.len <= SK_TREE_PACKET_BLOCK;
}

/* A packet large enough for those of the blocks [lo, hi) that ride, or for any that may ride in my
 * subtree. */
int sk_ride_packet_of(sk_sched *s, const sk_blocks *r, int lo, int hi);
int sk_ride_packet_any(sk_sched *s, const sk_tree *t);
int64_t sk_ride_scratch(const sk_call *c);

/* ---- broadcast of a message that is cut into parts ----
 * The message in one span that may be cut anywhere: the user's buffer, or scratch. sk_message_in
 * makes it, and fills it at the root; sk_message_out delivers it at the others. */
sk_span sk_message_in(sk_sched *s, const sk_call *c);
void sk_message_out(sk_sched *s, const sk_call *c, sk_span place);
int64_t sk_message_scratch(const sk_call *c);

/* ---- alltoall ---- */

/* Everybody sends to me+1, me+2 ... and receives from me-1, me-2 ..., `window` of each in a
 * round. When the call is in place, the blocks are first copied. */
void sk_alltoall_by_exchange(sk_sched *s, const sk_call *c, int window);

/* The scratch for that copy. For alltoallv and alltoallw there is no bound: nothing about their
 * sizes is known to all ranks. */
int64_t sk_alltoall_scratch(const sk_call *c);

#endif
