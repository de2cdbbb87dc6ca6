/* intra_reduce.h: reductions of ranks that are all on one node. Slots hold elements as the type
 * lays them out, because operations see whole elements. */
#ifndef SK_PHASE_INTRA_REDUCE_H
#define SK_PHASE_INTRA_REDUCE_H

#include "coll/phase/intra.h"

/* As sk_intra_fits, for an operation of the standard; and a slot can hold n vectors of at least an
 * element each. */
bool sk_intra_reduce_fits(const sk_call *c, int n);

/* Does the whole vector go in one epoch, in which ranks reduce what they need for themselves? */
bool sk_intra_is_short(const sk_call *c);

/* Elements that fit into so many bytes, at least one; the bytes that n elements take. */
int64_t sk_elems_in(const sk_call *c, int64_t bytes);
int64_t sk_elems_bytes(const sk_call *c, int64_t n);

/* Elements of each of nranks parts of a slot, each in its own cache lines. */
int64_t sk_elems_each(const sk_call *c);

/* n elements from byte `at` of a slot on, in my own slot or another's. */
sk_span sk_elems_slot(const sk_call *c, int epoch, int64_t at, int64_t n);

/* Elements [lo, hi) of a vector. */
typedef struct sk_elem_range {
    int64_t lo, hi;
} sk_elem_range;

/* The part of n elements that a rank reduces. Parts are whole cache lines; the first is the longest. */
sk_elem_range sk_elems_part_of(const sk_call *c, int64_t n, int rank);

/* Copy a short vector to my slot and post it; returns the epoch. `all`: every rank does this. */
int sk_intra_post_vector(sk_sched *s, const sk_call *c, bool all);

/* A long vector, chunk by chunk: all ranks copy their vectors to slots, each reduces its part into
 * the common slot, and all, or only rank `to`, take the result from there. to < 0: all. Two epochs
 * for each chunk. */
void sk_intra_reduce_by_parts(sk_sched *s, const sk_call *c, int to);

/* Bytes of a chunk that ranks hand on from one to the next: there are many slots of this size, so that they can
 * run ahead; and where each has a core, the last one is not to begin late. */
int64_t sk_intra_chain_bytes(const sk_call *c);

/* What reducing by parts costs: every byte of all vectors is reduced once, by one rank, and `takers` ranks take
 * the result. */
void sk_intra_claim_parts(const sk_cost_case *k, sk_cost *c, int64_t takers);

#endif
