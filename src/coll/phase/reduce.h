/* reduce.h: builders that several reductions share.
 *
 * Elements are combined in place: `inout = in op inout` puts the result where the right operand
 * was. So a running value moves between two buffers as operands come from the left and from the
 * right, and nothing is copied to keep the order. */
#ifndef SK_PHASE_REDUCE_H
#define SK_PHASE_REDUCE_H

#include "coll/call.h"
#include "coll/flow.h"
#include "sched/sched.h"

/* Elements [first, first + n) of a span. */
sk_span sk_elems_cut(const sk_call *c, sk_span s, int64_t first, int64_t n);

/* reduce_scatter(_block): where block i starts in the input, and its length, in elements. i may be
 * nranks: the end. */
int64_t sk_block_first(const sk_call *c, int i);
int64_t sk_block_count(const sk_call *c, int i);
int64_t sk_block_longest(const sk_call *c); /* of all blocks */

/* The input with its blocks in that order: where it lies or, if the ranks are renamed, a vector of
 * scratch, which is filled in a separate round. */
sk_span sk_blocks_input(sk_sched *s, const sk_call *c);

/* Bytes from which reduce_scatter no longer sends whole vectors, on p ranks. */
int64_t sk_reduce_scatter_cutoff(int p, const sk_machine *m);

/* Upper bound of the scratch that `vectors` vectors of n elements of the call's type take. */
int64_t sk_vectors_scratch(const sk_call *c, int vectors, int64_t n);

/* ---- a running value ----
 * Use: sk_acc_ready; in one round send `at` and receive into sk_acc_in; fence; sk_acc_add; fence.
 * All three may be given a part of the vector, from element `first` on. Then only that part of the
 * value remains valid. */
typedef struct sk_acc {
    const sk_call *c;
    sk_span at;     /* the value so far: at first the input, which is only read; empty: none */
    sk_span buf[2]; /* where it may be written; an empty one becomes scratch when first used */
    int64_t n;      /* elements of a buffer */
    int next;       /* the buffer that receives the next operand */
    bool own;       /* `at` is one of the buffers */
    bool ordered;   /* keep the order of operands */
} sk_acc;

/* Elements [first, first + n) of the input. Operands keep the order of ranks if the operation does
 * not commute. `home` is the buffer to write first, or empty. If the input itself is there (in
 * place), it may be written. */
sk_acc sk_acc_new(const sk_call *c, int64_t first, int64_t n, sk_span home);

/* All of sk_blocks_input. If that is a copy, it may be written. */
sk_acc sk_acc_blocks(sk_sched *s, const sk_call *c);

/* No value yet: the first operand becomes the value. */
sk_acc sk_acc_none(const sk_call *c, int64_t n, sk_span home);

/* Before the transfer: a value that may only be read cannot be the right operand, so it is copied.
 */
void sk_acc_ready(sk_sched *s, sk_acc *a, int64_t first, int64_t n, bool mine_left);
sk_span sk_acc_in(sk_sched *s, sk_acc *a);
void sk_acc_add(sk_sched *s, sk_acc *a, int64_t first, int64_t n, bool mine_left);

/* ---- powers of two ----
 * Of p ranks, the largest power of two q <= p take part as members 0 .. q-1. Each of the first p-q
 * pairs of neighbours is one member: one of the pair stays, the other hands its value over. Members
 * are in rank order, so folding keeps the order of operands. */
typedef struct sk_fold {
    int p, q;
    int stay; /* this rank stays; otherwise, of a pair, the lower one */
} sk_fold;

sk_fold sk_fold_of(const sk_call *c, int stay);
int sk_fold_rank(const sk_fold *f, int member);
int sk_fold_member(const sk_fold *f, int rank);  /* -1: handed over */
int sk_fold_partner(const sk_fold *f, int rank); /* the other of the pair; -1: not in a pair */
int sk_fold_first(const sk_fold *f, int member); /* the lowest rank it stands for; member <= q */

/* Hand over, or take over and combine; ends with a fence. One round. */
void sk_fold_in(sk_sched *s, const sk_fold *f, sk_acc *a);

/* What all pairs send, in one direction or in both, when a message has `bytes`. */
void sk_fold_flow(sk_flow *w, const sk_fold *f, int messages, int64_t bytes);

/* ---- recursive halving and back ----
 * Every member halves its part of the vector lg q times: it gives one half to a partner and
 * reduces the other half with the partner's. Then the parts are joined again, into the receive
 * buffer of all members (to = -1) or of member `to`. The first partners are neighbours, so the
 * order of operands is kept. 2 lg q rounds; ends with a fence. */
void sk_halve_and_join(sk_sched *s, const sk_fold *f, sk_acc *a, int to);

/* What that sends, in q-th parts of the vector. */
void sk_halve_and_join_flow(sk_flow *w, const sk_fold *f, int to);

/* ---- prefixes ----
 * The running value of a scan, and, for exscan, beside it the prefix without this rank's input. */
typedef struct sk_prefix {
    sk_acc with, without;
    bool exclusive;
} sk_prefix;

sk_prefix sk_prefix_new(sk_sched *s, const sk_call *c);

/* Receive the prefix of lower ranks, in the current round, and reduce; ends with a fence. `more`:
 * this rank will send again. */
void sk_prefix_take(sk_sched *s, sk_prefix *x, int peer, bool more);
void sk_prefix_end(sk_sched *s, const sk_prefix *x);

/* Upper bound of its scratch. */
int64_t sk_prefix_scratch(const sk_call *c);

#endif
