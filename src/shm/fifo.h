/* chutes.h: messages from one mate to another through shared memory, a piece at a time. Only the
 * two know of a message and of its length, nobody else has to count it.
 *
 * Every mate has a stock of pieces of memory, which it uses in turn: it fills one, notes which one
 * in the lane to its mate, and when that has emptied it, may use it again. So a message of any
 * length takes two copies that overlap, and one that fits into the stock is over for its sender
 * before the receiver comes. Where ranks share cores a mate is told of a piece not before there is
 * no more to be done.
 *
 * A rank that sends very much at a time lets its mates read long messages where they lie, if it
 * may.
 *
 * memory  n stocks, and two cache lines for each pair of mates */
#ifndef SK_CHUTES_H
#define SK_CHUTES_H

#include <stddef.h>

#include "shm/waiting.h"

typedef struct sk_chutes sk_chutes; /* of one process */

/* Memory for n mates, if a piece should have no more than so many bytes. */
size_t sk_chutes_bytes(int n, int64_t most);

/* Over such memory, zero at first, aligned to cache lines, as mate `me`; NULL: out of memory. */
sk_chutes *sk_chutes_new(void *mem, int n, int me, int64_t most);
void sk_chutes_free(sk_chutes *x);

/* Mates can read each other's memory, all of them. */
void sk_chutes_read_directly(sk_chutes *x);

/* Start a message; at most one to and one from each mate at a time. */
void sk_chutes_send(sk_chutes *x, int mate, const void *from, int64_t len);
void sk_chutes_recv(sk_chutes *x, int mate, void *to, int64_t len);

/* All of them are over. False: a message that came was not as long as it should be. */
bool sk_chutes_finish(sk_chutes *x, const sk_pause *pause);

#endif
