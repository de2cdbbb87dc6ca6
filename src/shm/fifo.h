/* chutes.h: messages from one local rank to another through shared memory, a piece at a time. Only the
 * two know of a message and of its length, nobody else has to count it.
 *
 * Every local rank has a stock of pieces of memory, which it uses in turn: it fills one, notes which one
 * in the lane to its local rank, and when that has emptied it, may use it again. So a message of any
 * length takes two copies that overlap, and one that fits into the stock is over for its sender
 * before the receiver comes. Where ranks share cores a local rank is told of a piece not before there is
 * no more to be done.
 *
 * A rank that sends very much at a time lets its local ranks read long messages where they lie, if it
 * may.
 *
 * memory  n stocks, and two cache lines for each pair of local ranks */
#ifndef SK_FIFO_H
#define SK_FIFO_H

#include <stddef.h>

#include "shm/waiting.h"

typedef struct sk_fifos sk_fifos; /* of one process */

/* Memory for n local ranks, if a piece should have no more than so many bytes. */
size_t sk_fifos_bytes(int n, int64_t most);

/* Over such memory, zero at first, aligned to cache lines, as local rank `me`; NULL: out of memory. */
sk_fifos *sk_fifos_new(void *mem, int n, int me, int64_t most);
void sk_fifos_free(sk_fifos *x);

/* Local ranks can read each other's memory, all of them. */
void sk_fifo_enable_cma(sk_fifos *x);

/* Start a message; at most one to and one from each local rank at a time. */
void sk_fifos_send(sk_fifos *x, int local_rank, const void *from, int64_t len);
void sk_fifos_recv(sk_fifos *x, int local_rank, void *to, int64_t len);

/* All of them are over. False: a message that came was not as long as it should be. */
bool sk_fifos_finish(sk_fifos *x, const sk_waiting *waiting);

#endif
