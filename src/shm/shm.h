/* shm.h: epochs over the shared memory of a node's ranks: the mechanism under sk_epoch (see
 * sched/sched.h), without schedules, types and operations.
 *
 * Epochs are counted over all collectives of a communicator, alike at all local ranks. In an epoch
 * each local rank has a slot, and there is a common one. Slots come from rings of a few sizes; the
 * smallest lie in the cache line of the flag that announces them. A slot is used again when all
 * local ranks have released the epoch it served, so a rank can run ahead of the others by as many
 * epochs as a ring has slots. An epoch that a rank has no step in costs it only the counting.
 *
 *   ring   bytes of a slot   slots
 *   0                   48     640   in the cache line of the flag
 *   1                  256     640
 *   2                   2K      80
 *   3                  16K      72
 *   4                 128K      12
 *   5                 512K       4
 *
 * If memory is short the rings of the largest slots are left out.
 *
 * The functions here wait until they can do their work, unless they answer whether they would. The
 * operations in an epoch are in epochs.h, to be inlined. */
#ifndef SK_SHM_H
#define SK_SHM_H

#include <stddef.h>

#include "shm/segment.h"
#include "shm/waiting.h"

typedef struct sk_shm sk_shm; /* of one process */

/* Most epochs that a local rank that posts can run ahead of the others. */
enum { SK_SHM_AHEAD = 512 };

/* The memory for n local ranks, at most `cap` bytes, and the bytes of the largest slot that it then
 * has. 0: the cap is too small. */
size_t sk_shm_bytes(int n, int64_t cap, int64_t *slot_bytes);

/* Over memory of this size that is zero at first, as local rank `me` of n. Takes over the mapping.
 * NULL: out of memory. All local ranks must wait in the same mode. */
sk_shm *sk_shm_new(void *mem, size_t bytes, int n, int me);
void sk_shm_borrow(sk_shm *shm); /* the mapping is somebody else's: do not unmap it */

/* A lane: memory of its own, with fewer slots, for a collective that outlives its call. It lies beside
 * that of the blocking calls of the same ranks, waits in the same way, and does not own its mapping. */
sk_shm *sk_shm_lane_new(sk_shm *beside, void *mem, size_t bytes);
void sk_shm_lane_clear(void *mem, size_t bytes, int n);

/* Collectives of a communicator that outlive their calls and use shared memory at the same time; others
 * wait their turn. */
enum { SK_SHM_LANES = 4 };

/* The memory of a communicator's local ranks: for blocking calls, then the lanes. */
typedef struct sk_shm_size {
    size_t main, lane;                   /* bytes; 0: none */
    int64_t slot_bytes, lane_slot_bytes; /* of the largest slot */
} sk_shm_size;

sk_shm_size sk_shm_size_of(int n, int64_t cap);
static inline size_t sk_shm_size_bytes(sk_shm_size s)
{
    return s.main + SK_SHM_LANES * s.lane;
}

/* The bytes at its beginning that every communicator uses: counters and flags. */
size_t sk_shm_first_bytes(int n);

/* Parts of the memory that the first few hundred calls use, those of the shortest messages first; how many. The ends of the
 * parts are within the memory. */
enum { SK_SHM_PARTS = 8 };
typedef struct sk_shm_part {
    size_t at, bytes;
} sk_shm_part;
int sk_shm_first_parts(int n, sk_shm_size size, sk_shm_part part[SK_SHM_PARTS]);

/* Make memory that has served n local ranks fit for others: zero what must be zero at first. */
void sk_shm_clear(void *mem, size_t bytes, int n);

/* This rank has ended its last epoch for now. If all have ended the same number, they can go on. */
void sk_shm_leave(sk_shm *shm);
bool sk_shm_all_left(const sk_shm *shm);
void sk_shm_set_waiting(sk_shm *shm, sk_waiting waiting); /* before the first epoch */
/* Local ranks can read each other's memory, and do so for messages of `from` bytes or more. */
void sk_shm_enable_cma(sk_shm *shm, int64_t from);
void sk_shm_free(sk_shm *shm); /* unmaps, if it owns the mapping */

int64_t sk_shm_slot_bytes(const sk_shm *shm); /* of the largest slot */

/* Wait until all local ranks have released this epoch of the collective under way. */
void sk_shm_quiesce(sk_shm *shm, uint32_t epoch);
bool sk_shm_is_quiet(sk_shm *shm, uint32_t epoch); /* it would not wait */

/* The bytes of local rank 0 at all local ranks, by an epoch of its own between two collectives. At most
 * SK_SHM_SHARED bytes. */
enum { SK_SHM_SHARED = 48 };
void sk_shm_share(sk_shm *shm, void *what, size_t bytes);

/* Messages between local ranks, apart from all epochs (see fifo.h). Start any number, at most one to
 * and one from each local rank, then wait for the end of all. False: a message had another length
 * than its receive. */
void sk_shm_send(sk_shm *shm, int local_rank, const void *from, int64_t len);
void sk_shm_recv(sk_shm *shm, int local_rank, void *to, int64_t len);
bool sk_shm_move(
    sk_shm *shm); /* as far as it goes without waiting; true: sk_shm_finish would not wait */
bool sk_shm_finish(sk_shm *shm);

#endif
