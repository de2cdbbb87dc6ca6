/* epochs.h: the operations in an epoch, inlined: a small collective is a few of these and little
 * else. Only shm.c and wires that run epochs include this; others need shm.h.
 *
 * The life of an epoch at one rank:
 *
 *   sk_shm_epoch      count it and find its slots
 *   sk_shm_open       wait until the slots are free: they may be written from here on
 *   sk_shm_post       set the flag: the local ranks may read the slot
 *   sk_shm_await*     wait for the flags of others, then read their slots
 *   sk_shm_release    this rank no longer reads or writes the slots of epochs below */
#ifndef SK_SHM_EPOCHS_H
#define SK_SHM_EPOCHS_H

#include <string.h>

#include "base/assert.h"
#include "shm/fifo.h"
#include "shm/shm.h"

enum {
    SK_SHM_LINE = 64,   /* bytes of a cache line */
    SK_SHM_INLINE = 48, /* bytes of a slot in the line of its flag */
    SK_SHM_NRINGS = 6,
    SK_SHM_HOT_LINES = 128, /* lines for epochs that all local ranks come to together */
    SK_SHM_LINES = SK_SHM_AHEAD + SK_SHM_HOT_LINES,
    SK_SHM_STATES = 4, /* a collective uses two epochs at once; a power of two */
};

/* ---- in shared memory ---- */

/* The flag of one rank in one epoch, with a small slot. */
typedef struct sk_shm_line {
    _Alignas(SK_SHM_LINE) sk_flag flag;
    char slot[SK_SHM_INLINE];
} sk_shm_line;
_Static_assert(sizeof(sk_shm_line) == SK_SHM_LINE, "a line is a cache line");
_Static_assert((int)SK_SHM_SHARED <= (int)SK_SHM_INLINE, "what is shared fits in a line");

/* A counter on a cache line of its own. */
typedef struct sk_shm_counter {
    _Alignas(SK_SHM_LINE) sk_flag flag;
} sk_shm_counter;

/* The start of the segment. A counter for each local rank follows: the epochs it has released. Then
 * come the rings. */
typedef struct sk_shm_head {
    char segment[SK_SEGMENT_HEAD];
    sk_shm_counter arrived[SK_SHM_HOT_LINES]; /* posts to each hot line, over all its epochs */
} sk_shm_head;

/* ---- of this process ---- */

typedef enum sk_shm_kind {
    SK_SHM_RUN_AHEAD, /* ranks that post may run ahead of the others */
    SK_SHM_BY_ALL,    /* all local ranks post */
    SK_SHM_TOGETHER,  /* not all post, but none comes to it long before the others */
    SK_SHM_NKINDS
} sk_shm_kind;

/* One of the epochs that were counted last. */
typedef struct sk_shm_epoch_state {
    sk_shm_line *lines; /* of local rank 0; those of the others follow */
    /* Of local rank 0; those of the others follow, the common one last. RUN_AHEAD: where this rank's own one
     * is; each rank that posts names the row of its own in its line. */
    char *slots;
    int64_t stride;   /* from a slot to the next */
    uint64_t arrived; /* BY_ALL: value of the counter when all have posted */
    uint32_t ring;    /* of the slots; 0: they are in the lines */
    uint32_t line;    /* index in its ring */
    uint32_t row;     /* of the slots: index in their ring */
    uint32_t user;    /* of the slots: index in `user` */
    sk_shm_kind kind;
    bool open; /* by this rank */
    bool last; /* this rank was the last to post */
    SK_ASSERT_ONLY(uint64_t number;)
} sk_shm_epoch_state;

typedef struct sk_shm_ring {
    char *mem;
    int64_t slot_bytes;
    int64_t stride, row; /* bytes from a slot to that of the next rank, of the next epoch */
    uint32_t first[SK_SHM_NKINDS], mask[SK_SHM_NKINDS]; /* the slots for each kind of epoch */
    uint32_t young; /* mask while the memory is young: few slots are used, and again soon */
    uint32_t near;  /* RUN_AHEAD: mask of the slots that are used while the others keep pace */
    uint32_t users; /* index in `user` of its first slot */
} sk_shm_ring;

struct sk_shm {
    void *mem;
    size_t bytes;
    bool borrowed;            /* the mapping is not its own */
    sk_shm_counter *released; /* epochs that each local rank has released */
    int n, me, nrings;
    sk_waiting waiting;
    uint32_t signature;   /* of the collective under way */
    uint64_t first, next; /* epochs: the first of the collective under way, the next to count */
    uint64_t known;       /* all other local ranks are known to have released this many */
    uint64_t look;        /* the next epoch that looks whether a near slot is free */
    sk_shm_epoch_state state[SK_SHM_STATES]; /* by epoch - first: short collectives reuse a few */
    sk_shm_ring ring[SK_SHM_NRINGS];
    uint64_t arrived[SK_SHM_HOT_LINES];
    sk_fifos *fifos;
    uint64_t user[]; /* 1 + the epoch that this rank opened last with each slot, ring after ring */
};

/* Wait until all local ranks have released the epochs before `after`, whose slot is wanted again for
 * the epoch before `now`. */
void sk_shm_await_slot(sk_shm *shm, uint64_t after, uint64_t now);

/* Have all other local ranks released this many epochs? */
bool sk_shm_released_by_all(sk_shm *shm, uint64_t epochs);

/* Find the slots of an epoch that are too large for its lines. */
SK_HOT void sk_shm_find_slots(sk_shm *shm, sk_shm_epoch_state *e, uint64_t epoch,
                              int64_t slot_bytes);

/* ---- operations ---- */

/* The state of an epoch, which is one of the last SK_SHM_STATES that were counted. */
static inline sk_shm_epoch_state *sk_shm_state(sk_shm *shm, uint32_t epoch)
{
    sk_shm_epoch_state *e = &shm->state[epoch % SK_SHM_STATES];
    SK_ASSERT_ONLY(SK_ASSERT(e->number == shm->first + epoch);)
    return e;
}

static inline sk_flag *sk_shm_arrived(const sk_shm *shm, const sk_shm_epoch_state *e)
{
    return &((sk_shm_head *)shm->mem)->arrived[e->line].flag;
}

static inline void sk_shm_reach(const sk_shm *shm, sk_flag *flag, uint64_t value)
{
    if (!sk_flag_reached(flag, value))
        sk_flag_wait(flag, value, &shm->waiting);
}

static inline int sk_shm_nlocal(const sk_shm *shm)
{
    return shm->n;
}

static inline int sk_shm_me(const sk_shm *shm)
{
    return shm->me;
}

/* Do the local ranks share cores?
 *
 * With a core for each rank, every rank polls the lines of the others. These hold the data too; a
 * counter would be one more cache line to pass round. Where cores are shared, the ranks wait for one
 * counter: that is less work, and only the last rank to arrive wakes the sleepers. For the same
 * reason what all local ranks would compute alike is computed by that last rank alone, into the
 * common slot, and announced. */
static inline bool sk_shm_cores_shared(const sk_shm *shm)
{
    return shm->waiting.mode != SK_WAIT_SPIN;
}

/* Begin a collective; its epochs count from 0. The signature is the same at all local ranks unless
 * they called different collectives or disagree on sizes. */
static inline void sk_shm_begin(sk_shm *shm, uint32_t signature)
{
    shm->first = shm->next;
    shm->signature = signature;
}

static inline uint32_t sk_shm_slot_index(const sk_shm_ring *r, uint64_t epoch, sk_shm_kind kind)
{
    return r->first[kind] + ((uint32_t)epoch & r->mask[kind]);
}

/* Count the next epoch of the collective, with slots of `slot_bytes`. In order, before any use of
 * it, and when this rank is done with all epochs but the one before (see sched.h). `all`: every
 * local rank posts it. `together`: if not, no rank runs far ahead to it. */
static inline void sk_shm_epoch(sk_shm *shm, int64_t slot_bytes, bool all, bool together)
{
    sk_shm_kind kind = all ? SK_SHM_BY_ALL : together ? SK_SHM_TOGETHER : SK_SHM_RUN_AHEAD;
    uint64_t epoch = shm->next++;
    const sk_shm_ring *r = shm->ring;
    sk_shm_epoch_state *e = &shm->state[(uint32_t)(epoch - shm->first) % SK_SHM_STATES];
    SK_ASSERT_ONLY(e->number = epoch;)
    uint32_t line = sk_shm_slot_index(r, epoch, kind);
    sk_shm_line *lines = (sk_shm_line *)(r->mem + line * r->row);
    SK_ASSERT(line < SK_SHM_LINES && (!all || line < SK_SHM_HOT_LINES));
    e->lines = lines;
    e->slots = lines->slot;
    e->stride = SK_SHM_LINE;
    e->ring = 0;
    e->line = line;
    e->kind = kind;
    e->open = e->last = false;
    if (all && sk_shm_cores_shared(shm))
        e->arrived = shm->arrived[line] += (uint64_t)shm->n;
    if (slot_bytes > SK_SHM_INLINE)
        sk_shm_find_slots(shm, e, epoch, slot_bytes);
}

/* Wait until the slots of the epoch may be written.
 *
 * This rank writes only its own line and slot, and the common slot where all post. So when it comes
 * to a line or slot again, the only epoch that other ranks may still have to read there is the one
 * that this rank opened last with it. */
static inline void sk_shm_open(sk_shm *shm, uint32_t epoch)
{
    sk_shm_epoch_state *e = sk_shm_state(shm, epoch);
    uint64_t mark = shm->first + epoch + 1, *user = &shm->user[e->line], after = *user;
    if (e->open)
        return;
    e->open = true;
    *user = mark;
    if (e->ring) {
        user = &shm->user[e->user];
        after = *user > after ? *user : after;
        *user = mark;
    }
    SK_ASSERT(after < mark);
    if (shm->known < after)
        sk_shm_await_slot(shm, after, mark);
    if (e->ring)
        memcpy(e->lines[shm->me].slot, &e->row, sizeof e->row);
}

/* Would sk_shm_open not wait? */
static inline bool sk_shm_may_open(sk_shm *shm, uint32_t epoch)
{
    const sk_shm_epoch_state *e = sk_shm_state(shm, epoch);
    if (e->open)
        return true;
    uint64_t after = shm->user[e->line];
    if (e->ring && shm->user[e->user] > after)
        after = shm->user[e->user];
    return shm->known >= after || sk_shm_released_by_all(shm, after);
}

/* The slot of a local rank; of local rank n: the common slot. That of another rank is known when it has
 * posted. */
static inline void *sk_shm_slot(sk_shm *shm, uint32_t epoch, int local_rank)
{
    const sk_shm_epoch_state *e = sk_shm_state(shm, epoch);
    SK_ASSERT(local_rank >= 0 && local_rank <= shm->n);
    if (!e->ring || e->kind != SK_SHM_RUN_AHEAD || local_rank == shm->me)
        return e->slots + local_rank * e->stride;
    const sk_shm_ring *r = &shm->ring[e->ring];
    uint32_t row;
    memcpy(&row, e->lines[local_rank].slot, sizeof row);
    return r->mem + row * r->row + local_rank * e->stride;
}

static inline void sk_shm_post(sk_shm *shm, uint32_t epoch)
{
    sk_shm_epoch_state *e = sk_shm_state(shm, epoch);
    if (!e->open)
        sk_shm_open(shm, epoch); /* the line and the counter are reused, too */
    sk_flag *mine = &e->lines[shm->me].flag;
    SK_ASSERT(atomic_load(&mine->value) < shm->first + epoch + 1); /* not posted yet */
    atomic_store_explicit(&mine->signature, shm->signature, memory_order_relaxed);
    sk_flag_set(mine, shm->first + epoch + 1);
    if (e->kind != SK_SHM_BY_ALL || !sk_shm_cores_shared(shm))
        return;
    sk_flag *arrived = sk_shm_arrived(shm, e);
    if (atomic_fetch_add_explicit(&arrived->value, 1, memory_order_acq_rel) + 1 == e->arrived) {
        e->last = true;
        sk_flag_notify(arrived);
    }
}

/* Wait until a local rank has posted. False: it has, with another signature. */
static inline bool sk_shm_await(sk_shm *shm, uint32_t epoch, int local_rank)
{
    SK_ASSERT(local_rank >= 0 && local_rank < shm->n);
    sk_flag *flag = &sk_shm_state(shm, epoch)->lines[local_rank].flag;
    sk_shm_reach(shm, flag, shm->first + epoch + 1);
    return atomic_load_explicit(&flag->signature, memory_order_relaxed) == shm->signature;
}

/* Wait until the local ranks lo .. hi-1 have posted. False: one has, with another signature. Waiting
 * for the counter does not compare signatures. */
static inline bool sk_shm_await_range(sk_shm *shm, uint32_t epoch, int lo, int hi)
{
    const sk_shm_epoch_state *e = sk_shm_state(shm, epoch);
    SK_ASSERT(lo >= 0 && hi <= shm->n);
    if (hi - lo == shm->n && e->kind == SK_SHM_BY_ALL && sk_shm_cores_shared(shm)) {
        sk_shm_reach(shm, sk_shm_arrived(shm, e), e->arrived);
        return true;
    }
    sk_shm_line *lines = e->lines;
    uint32_t differ = 0, signature = shm->signature;
    uint64_t value = shm->first + epoch + 1;
    for (int i = lo; i < hi; i++) {
        sk_shm_reach(shm, &lines[i].flag, value);
        differ |= atomic_load_explicit(&lines[i].flag.signature, memory_order_relaxed) ^ signature;
    }
    return !differ;
}

/* Would sk_shm_await_range not wait? */
static inline bool sk_shm_has_range(sk_shm *shm, uint32_t epoch, int lo, int hi)
{
    const sk_shm_epoch_state *e = sk_shm_state(shm, epoch);
    if (hi - lo == shm->n && e->kind == SK_SHM_BY_ALL && sk_shm_cores_shared(shm))
        return sk_flag_reached(sk_shm_arrived(shm, e), e->arrived);
    for (int i = lo; i < hi; i++)
        if (!sk_flag_reached(&e->lines[i].flag, shm->first + epoch + 1))
            return false;
    return true;
}

/* Where cores are shared: was this rank the last to post? Then it computes the common slot and
 * announces it; the others await the result. */
static inline bool sk_shm_was_last(sk_shm *shm, uint32_t epoch)
{
    return sk_shm_state(shm, epoch)->last;
}

static inline void sk_shm_announce(sk_shm *shm, uint32_t epoch)
{
    sk_flag_set(&sk_shm_state(shm, epoch)->lines[shm->n].flag, shm->first + epoch + 1);
}

static inline void sk_shm_await_result(sk_shm *shm, uint32_t epoch)
{
    sk_shm_reach(shm, &sk_shm_state(shm, epoch)->lines[shm->n].flag, shm->first + epoch + 1);
}

/* Would sk_shm_await_result not wait? */
static inline bool sk_shm_has_result(sk_shm *shm, uint32_t epoch)
{
    return sk_flag_reached(&sk_shm_state(shm, epoch)->lines[shm->n].flag, shm->first + epoch + 1);
}

/* This rank is done with the epochs below this one. Epochs that it did not use need not have been
 * counted. */
static inline void sk_shm_release(sk_shm *shm, uint32_t epochs)
{
    SK_ASSERT(atomic_load(&shm->released[shm->me].flag.value) <= shm->first + epochs);
    if (shm->next < shm->first + epochs)
        shm->next = shm->first + epochs;
    sk_flag_set(&shm->released[shm->me].flag, shm->first + epochs);
}

#endif
