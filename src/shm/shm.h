/* board.h: epochs of local ranks over shared memory: the wire under sk_epoch (see sched.h), without
 * its schedules, types and operations.
 *
 * Epochs are counted over all collectives of a communicator, the same at all local ranks. An epoch has a
 * slot per local rank and a common one, taken from rings of slots of a few sizes; the smallest are a cache
 * line together with the bell that announces them. A slot is used again when all local ranks have passed
 * the epoch it served: so a rank may run ahead of the others by as many epochs as there are slots. A
 * epoch that a rank has no part in costs it no more than to be counted.
 *
 *   ring        bytes of a slot x slots
 *   in the line      48 x 640
 *   others          256 x 640, 2K x 80, 16K x 72, 128K x 12, 512K x 4: the largest if memory allows
 *
 * Everything here waits until it can be done. What is done in epochs is in shm_epochs.h. */
#ifndef SK_SHM_H
#define SK_SHM_H

#include <stddef.h>

#include "shm/segment.h"
#include "shm/waiting.h"

typedef struct sk_shm sk_shm; /* of one process */

enum {
    SK_SHM_AHEAD = 512
}; /* epochs, at most, that a local rank that posts runs ahead of others */

/* Memory for n local ranks under a cap, and the largest slot it then has; 0: the cap is too small. */
size_t sk_shm_bytes(int n, int64_t cap, int64_t *room);

/* Over memory of this size that is zero at first, as local rank `me` of n. Takes the mapping over; NULL:
 * out of memory. All local ranks must wait in the same way. */
sk_shm *sk_shm_new(void *mem, size_t bytes, int n, int me);
void sk_shm_set_waiting(sk_shm *b, sk_waiting waiting); /* before the first epoch */
void sk_shm_enable_cma(sk_shm *b); /* local ranks can read each other's memory */
void sk_shm_free(sk_shm *b);       /* unmaps */

int64_t sk_shm_slot_bytes(const sk_shm *b);

/* All local ranks are done with this epoch of the collective under way. */
void sk_shm_quiesce(sk_shm *b, uint32_t epoch);

/* Messages from local rank to local rank, beside all epochs (see chutes.h): start one, of at most one to and one
 * from each local rank at a time, and wait for the end of all. False: one had another length. */
void sk_shm_send(sk_shm *b, int local_rank, const void *from, int64_t len);
void sk_shm_recv(sk_shm *b, int local_rank, void *to, int64_t len);
bool sk_shm_finish(sk_shm *b);

#endif
