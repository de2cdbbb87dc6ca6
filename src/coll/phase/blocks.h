/* row.h: the blocks of a user's buffer as one packed row.
 *
 * Ranks may describe the same data with different types, so messages are agreed in data bytes, and
 * what crosses the wire is either whole blocks in the user's own type or packed bytes. Whether a
 * stretch of blocks is sent from where it lies or from a packed copy in scratch is decided by each
 * rank for itself: nobody else can tell. */
#ifndef SK_ROW_H
#define SK_ROW_H

#include "coll/call.h"
#include "sched/sched.h"

/* Block i of a row is block (i + shift) mod nranks of the send or of the receive side, or of a list
 * of all of them. */
typedef struct sk_blocks {
    const sk_call *c;
    sk_buf side;
    int shift;
    const int *order; /* NULL: in the order of ranks */
} sk_blocks;

sk_span sk_blocks_get(const sk_blocks *r, int i);

/* The data bytes of blocks [lo, hi). */
int64_t sk_blocks_bytes(const sk_blocks *r, int lo, int hi);

/* One span for blocks [lo, hi): where they lie, if they follow each other there, to be cut between
 * blocks only; otherwise room in scratch. sk_blocks_pack fills it, sk_blocks_unpack empties it; both are
 * nothing at all when the span is the blocks themselves. */
sk_span sk_blocks_place(sk_sched *s, const sk_blocks *r, int lo, int hi);
void sk_blocks_pack(sk_sched *s, const sk_blocks *r, int lo, int hi, sk_span place);
void sk_blocks_unpack(sk_sched *s, const sk_blocks *r, int lo, int hi, sk_span place);

/* Slots are places, too: sk_blocks_pack fills mine, or my part of the common one, and this takes the
 * blocks out of another's, or out of the common one (owner -1), in which they stand packed. */
void sk_blocks_take(sk_sched *s, const sk_blocks *r, int lo, int hi, int owner, sk_span slot);

/* A span that may be cut anywhere: the given one if its type is contiguous, otherwise scratch of
 * the same length. sk_copy between the two drops out when they are the same. */
sk_span sk_contiguous_place(sk_sched *s, const sk_call *c, sk_span user);

/* Pieces of scratch start this many bytes apart, or a multiple. */
enum { SK_SCRATCH_STEP = 64 };

/* Upper bound of the scratch that n pieces of `bytes` take when asked for as one; the largest
 * number there is when it does not fit, so that no such call is ever served. */
int64_t sk_scratch_bytes(int64_t n, int64_t bytes);

#endif
