/* blocks.h: the blocks of a user's buffer, in some order, as one packed span.
 *
 * Ranks may describe the same data with different types, so they agree on messages in data bytes.
 * What crosses the wire is either whole blocks in the user's own type or packed bytes. Each rank
 * decides for itself whether it sends consecutive blocks from where they lie or from a packed copy
 * in scratch: the other ranks see no difference. */
#ifndef SK_BLOCKS_H
#define SK_BLOCKS_H

#include "coll/call.h"
#include "sched/sched.h"

/* Block i is block (i + shift) mod nranks of the send or of the receive side, or of the list
 * `order`. */
typedef struct sk_blocks {
    const sk_call *c;
    sk_buf side;
    int shift;
    const int *order; /* NULL: in the order of ranks */
} sk_blocks;

sk_span sk_blocks_get(const sk_blocks *r, int i);

/* The data bytes of blocks [lo, hi). */
int64_t sk_blocks_bytes(const sk_blocks *r, int lo, int hi);

/* One span for blocks [lo, hi). If they follow each other in the user's buffer it is there, and
 * may be cut between blocks only; otherwise it is scratch. sk_blocks_pack fills it,
 * sk_blocks_unpack empties it; both do nothing when the span is the blocks themselves. */
sk_span sk_blocks_place(sk_sched *s, const sk_blocks *r, int lo, int hi);
void sk_blocks_pack(sk_sched *s, const sk_blocks *r, int lo, int hi, sk_span place);
void sk_blocks_unpack(sk_sched *s, const sk_blocks *r, int lo, int hi, sk_span place);

/* The span may also be in a slot: sk_blocks_pack fills mine, or my part of the common one. This
 * takes packed blocks out of the slot of `owner`, or out of the common one (owner -1). */
void sk_blocks_take(sk_sched *s, const sk_blocks *r, int lo, int hi, int owner, sk_span slot);

/* A span that may be cut anywhere: the given one if its type is contiguous, otherwise scratch of
 * the same length. sk_copy between the two adds no step when they are the same. */
sk_span sk_contiguous_place(sk_sched *s, const sk_call *c, sk_span user);

/* Allocations in scratch start at multiples of this. */
enum { SK_SCRATCH_STEP = 64 };

/* Upper bound of the scratch that n times `bytes` take in one allocation. INT64_MAX on overflow,
 * so that no such call is ever served. */
int64_t sk_scratch_bytes(int64_t n, int64_t bytes);

#endif
