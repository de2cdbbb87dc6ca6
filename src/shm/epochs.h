/* shm_epochs.h: what is done in epochs, inlined: a small collective is a few of these and little
 * else. */
#ifndef SK_SHM_EPOCHS_H
#define SK_SHM_EPOCHS_H

#include "shm/shm_inner.h"

static inline place *place_of(sk_shm *b, uint32_t epoch)
{
    return &b->epoch[epoch % PLACES];
}

static inline sk_flag *count_of(const sk_shm *b, const place *p)
{
    return &((common *)b->mem)->arrived[p->line].bell;
}

static inline void reach(const sk_shm *b, sk_flag *bell, uint64_t value)
{
    if (!sk_flag_reached(bell, value))
        sk_flag_wait(bell, value, &b->waiting);
}

static inline int sk_shm_nlocal(const sk_shm *b)
{
    return b->n;
}

static inline int sk_shm_me(const sk_shm *b)
{
    return b->me;
}

/* Where ranks share cores, what all local ranks would compute alike is computed by the one that posts
 * last, into the common slot, and announced; the others await that.
 *
 * With a core for every rank each looks at the lines of the others, which hold the data as well; a
 * count would be one more line to pass round. Where cores are shared, one word to look at is less
 * work, and only the last one wakes those who sleep. */
static inline bool sk_shm_cores_shared(const sk_shm *b)
{
    return b->waiting.mode != SK_WAIT_SPIN;
}

/* A collective begins; its epochs count from 0. `sign` is the same at all local ranks, unless they have
 * called different collectives or disagree on sizes. */
static inline void sk_shm_begin(sk_shm *b, uint32_t sign)
{
    b->first = b->next;
    b->sign = sign;
}

static inline uint32_t slot_of(const ring *r, uint64_t epoch, epoch_kind kind)
{
    return r->first[kind] + ((uint32_t)epoch & r->mask[kind]);
}

/* The next epoch of the collective, with the bytes of its slots; in order, before any use, and when
 * those before the one before it are over here (see sched.h). `all`: every local rank posts it;
 * `together`: if not, nobody runs far ahead to it. */
static inline void sk_shm_epoch(sk_shm *b, int64_t room, bool all, bool together)
{
    epoch_kind kind = all ? BY_ALL : together ? TOGETHER : AHEAD;
    uint64_t epoch = b->next++;
    const ring *r = b->ring;
    place *p = place_of(b, (uint32_t)(epoch - b->first));
    uint32_t which = slot_of(r, epoch, kind);
    line *lines = (line *)(r->at + which * r->row);
    p->lines = lines;
    p->slots = lines->slot;
    p->step = LINE;
    p->ring = 0;
    p->line = which;
    p->kind = kind;
    p->open = p->last = false;
    if (all && sk_shm_cores_shared(b))
        p->arrived = b->arrived[which] += (uint64_t)b->n;
    if (room > INLINE)
        sk_shm_place_slots(b, p, epoch, room);
}

/* Slots may be written from here on.
 *
 * This local rank writes nothing but its own line and its own slot, and the common one where all post.
 * So when it comes to the same line and slot again, it is the epoch that it opened last with them,
 * and not any other, that local ranks may still have to read. */
static inline void sk_shm_open(sk_shm *b, uint32_t epoch)
{
    place *p = place_of(b, epoch);
    uint64_t mark = b->first + epoch + 1, *user = &b->user[0][p->line], after = *user;
    if (p->open)
        return;
    p->open = true;
    *user = mark;
    if (p->ring) {
        user = &b->user[p->ring][p->slot];
        after = *user > after ? *user : after;
        *user = mark;
    }
    if (b->known < after)
        sk_shm_await_slot(b, after, mark);
}

/* Local rank n: the common one. */
static inline void *sk_shm_slot(sk_shm *b, uint32_t epoch, int local_rank)
{
    const place *p = place_of(b, epoch);
    return p->slots + local_rank * p->step;
}

static inline void sk_shm_post(sk_shm *b, uint32_t epoch)
{
    place *p = place_of(b, epoch);
    if (!p->open)
        sk_shm_open(b, epoch); /* the line and the count, too, are used again */
    sk_flag *mine = &p->lines[b->me].bell;
    atomic_store_explicit(&mine->signature, b->sign, memory_order_relaxed);
    sk_flag_set(mine, b->first + epoch + 1, &b->waiting);
    if (p->kind != BY_ALL || !sk_shm_cores_shared(b))
        return;
    sk_flag *arrived = count_of(b, p);
    if (atomic_fetch_add_explicit(&arrived->value, 1, memory_order_acq_rel) + 1 == p->arrived) {
        p->last = true;
        sk_flag_wake(arrived);
    }
}

/* False: a local rank has posted, but with another sign. It is not looked for in every way to wait. */
static inline bool sk_shm_await(sk_shm *b, uint32_t epoch, int local_rank)
{
    sk_flag *bell = &place_of(b, epoch)->lines[local_rank].bell;
    reach(b, bell, b->first + epoch + 1);
    return atomic_load_explicit(&bell->signature, memory_order_relaxed) == b->sign;
}

static inline bool sk_shm_await_range(sk_shm *b, uint32_t epoch, int lo, int hi)
{
    const place *p = place_of(b, epoch);
    if (hi - lo == b->n && p->kind == BY_ALL && sk_shm_cores_shared(b)) {
        reach(b, count_of(b, p), p->arrived);
        return true;
    }
    line *lines = p->lines;
    uint32_t differ = 0, sign = b->sign;
    uint64_t value = b->first + epoch + 1;
    for (int i = lo; i < hi; i++) {
        reach(b, &lines[i].bell, value);
        differ |= atomic_load_explicit(&lines[i].bell.signature, memory_order_relaxed) ^ sign;
    }
    return !differ;
}

static inline bool sk_shm_was_last(sk_shm *b, uint32_t epoch)
{
    return place_of(b, epoch)->last;
}

static inline void sk_shm_announce(sk_shm *b, uint32_t epoch)
{
    sk_flag_set(&place_of(b, epoch)->lines[b->n].bell, b->first + epoch + 1, &b->waiting);
}

static inline void sk_shm_await_result(sk_shm *b, uint32_t epoch)
{
    reach(b, &place_of(b, epoch)->lines[b->n].bell, b->first + epoch + 1);
}

/* Epochs below this one are over here, also those that were not used and so need not be given. */
static inline void sk_shm_release(sk_shm *b, uint32_t epochs)
{
    if (b->next < b->first + epochs)
        b->next = b->first + epochs;
    sk_flag_set(&b->released[b->me].bell, b->first + epochs, &b->waiting);
}

#endif
