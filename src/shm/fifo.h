/* fifo.h: messages from one local rank to another through shared memory, chunk by chunk. Only the
 * two ranks know of a message and its length; no other rank has to count it.
 *
 * Each local rank owns a pool of chunks, which it uses in turn. The sender fills a chunk, appends
 * its index to the fifo of the receiver, and may use the chunk again when the receiver has emptied
 * it. So a message of any length takes two copies that overlap, and a message that fits into the
 * pool is over for its sender before the receiver comes. Where ranks share cores, the sender rings
 * the doorbell of the receiver only when it can do nothing else: waking a rank costs more than
 * filling a chunk.
 *
 * A rank lets the others read long messages from its memory in a single copy (cma.h), if the kernel
 * allows it.
 *
 * memory  n pools of 16 chunks, and two cache lines for each pair of local ranks */
#ifndef SK_FIFO_H
#define SK_FIFO_H

#include <stddef.h>

#include "shm/waiting.h"

typedef struct sk_fifos sk_fifos; /* all fifos to and from one process */

/* Memory for n local ranks with chunks of at most `max_chunk` bytes. */
size_t sk_fifos_bytes(int n, int64_t max_chunk);

/* Over such memory, zero at first, aligned to cache lines, as local rank `me`. NULL: out of
 * memory. */
sk_fifos *sk_fifos_new(void *mem, int n, int me, int64_t max_chunk);
void sk_fifos_free(sk_fifos *x);
void sk_fifos_clear(void *mem, int n); /* zero what must be zero at first */

/* All local ranks can read each other's memory, and do so for messages of `from` bytes or more. */
void sk_fifos_enable_cma(sk_fifos *x, int64_t from);
void sk_fifos_enable_cma_like(sk_fifos *x, const sk_fifos *other);

/* Start a message; at most one to and one from each local rank at a time. */
void sk_fifos_send(sk_fifos *x, int local_rank, const void *from, int64_t len);
void sk_fifos_recv(sk_fifos *x, int local_rank, void *to, int64_t len);

/* Move all messages as far as it goes without waiting. True: all are at their end. */
bool sk_fifos_move(sk_fifos *x, const sk_waiting *waiting);

/* Wait for the end of all messages. False: a message had another length than its receive. */
bool sk_fifos_finish(sk_fifos *x, const sk_waiting *waiting);

#endif
