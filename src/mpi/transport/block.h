/* block.h: a block goes to and from a slot. If its length is not known to the other side, it is before the block
 * (sk_step.lo). */
#ifndef SK_BLOCK_H
#define SK_BLOCK_H

#include "mpi/transport/move.h"
#include "sched/sched.h"

static inline void sk_block_put(const sk_step *st, const char *from, char *to)
{
    if (st->lo)
        memcpy(to - SK_LENGTH_BYTES, &st->b.len, SK_LENGTH_BYTES);
    sk_move(to, from, (size_t)st->b.len);
}

/* From a slot. The block may be shorter than there is room, or too long. */
static inline sk_status sk_block_take(const sk_step *st, const char *from, char *to)
{
    int64_t len = st->b.len;
    if (st->lo) {
        memcpy(&len, from - SK_LENGTH_BYTES, SK_LENGTH_BYTES);
        if (len > st->b.len)
            return SK_TRUNCATE;
    }
    if (len > 0)
        sk_move(to, from, (size_t)len);
    return SK_OK;
}

#endif
