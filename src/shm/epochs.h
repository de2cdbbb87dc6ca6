/* board_turns.h: what is done in turns, inlined: a small collective is a few of these and little
 * else. */
#ifndef SK_BOARD_TURNS_H
#define SK_BOARD_TURNS_H

#include "shm/shm_inner.h"

static inline place *place_of(sk_board *b, uint32_t turn)
{
    return &b->turn[turn % PLACES];
}

static inline sk_bell *count_of(const sk_board *b, const place *p)
{
    return &((common *)b->mem)->arrived[p->line].bell;
}

static inline void reach(const sk_board *b, sk_bell *bell, uint64_t value)
{
    if (!sk_bell_reached(bell, value))
        sk_bell_wait(bell, value, &b->pause);
}

static inline int sk_board_mates(const sk_board *b)
{
    return b->n;
}

static inline int sk_board_me(const sk_board *b)
{
    return b->me;
}

/* Where ranks share cores, what all mates would compute alike is computed by the one that publishes
 * last, into the common bay, and announced; the others await that.
 *
 * With a core for every rank each looks at the lines of the others, which hold the data as well; a
 * count would be one more line to pass round. Where cores are shared, one word to look at is less
 * work, and only the last one wakes those who sleep. */
static inline bool sk_board_crowded(const sk_board *b)
{
    return b->pause.mode != SK_PAUSE_SPIN;
}

/* A collective begins; its turns count from 0. `sign` is the same at all mates, unless they have
 * called different collectives or disagree on sizes. */
static inline void sk_board_begin(sk_board *b, uint32_t sign)
{
    b->first = b->next;
    b->sign = sign;
}

static inline uint32_t bay_of(const ring *r, uint64_t turn, turn_kind kind)
{
    return r->first[kind] + ((uint32_t)turn & r->mask[kind]);
}

/* The next turn of the collective, with the bytes of its bays; in order, before any use, and when
 * those before the one before it are over here (see sched.h). `all`: every mate publishes it;
 * `together`: if not, nobody runs far ahead to it. */
static inline void sk_board_turn(sk_board *b, int64_t room, bool all, bool together)
{
    turn_kind kind = all ? BY_ALL : together ? TOGETHER : AHEAD;
    uint64_t turn = b->next++;
    const ring *r = b->ring;
    place *p = place_of(b, (uint32_t)(turn - b->first));
    uint32_t which = bay_of(r, turn, kind);
    line *lines = (line *)(r->at + which * r->row);
    p->lines = lines;
    p->bays = lines->bay;
    p->step = LINE;
    p->ring = 0;
    p->line = which;
    p->kind = kind;
    p->open = p->last = false;
    if (all && sk_board_crowded(b))
        p->arrived = b->arrived[which] += (uint64_t)b->n;
    if (room > INLINE)
        sk_board_place_bays(b, p, turn, room);
}

/* Bays may be written from here on.
 *
 * This mate writes nothing but its own line and its own bay, and the common one where all publish.
 * So when it comes to the same line and bay again, it is the turn that it opened last with them,
 * and not any other, that mates may still have to read. */
static inline void sk_board_open(sk_board *b, uint32_t turn)
{
    place *p = place_of(b, turn);
    uint64_t mark = b->first + turn + 1, *user = &b->user[0][p->line], after = *user;
    if (p->open)
        return;
    p->open = true;
    *user = mark;
    if (p->ring) {
        user = &b->user[p->ring][p->bay];
        after = *user > after ? *user : after;
        *user = mark;
    }
    if (b->known < after)
        sk_board_await_bay(b, after, mark);
}

/* Mate n: the common one. */
static inline void *sk_board_bay(sk_board *b, uint32_t turn, int mate)
{
    const place *p = place_of(b, turn);
    return p->bays + mate * p->step;
}

static inline void sk_board_publish(sk_board *b, uint32_t turn)
{
    place *p = place_of(b, turn);
    if (!p->open)
        sk_board_open(b, turn); /* the line and the count, too, are used again */
    sk_bell *mine = &p->lines[b->me].bell;
    atomic_store_explicit(&mine->sign, b->sign, memory_order_relaxed);
    sk_bell_set(mine, b->first + turn + 1, &b->pause);
    if (p->kind != BY_ALL || !sk_board_crowded(b))
        return;
    sk_bell *arrived = count_of(b, p);
    if (atomic_fetch_add_explicit(&arrived->value, 1, memory_order_acq_rel) + 1 == p->arrived) {
        p->last = true;
        sk_bell_wake(arrived);
    }
}

/* False: a mate has published, but with another sign. It is not looked for in every way to wait. */
static inline bool sk_board_await(sk_board *b, uint32_t turn, int mate)
{
    sk_bell *bell = &place_of(b, turn)->lines[mate].bell;
    reach(b, bell, b->first + turn + 1);
    return atomic_load_explicit(&bell->sign, memory_order_relaxed) == b->sign;
}

static inline bool sk_board_await_range(sk_board *b, uint32_t turn, int lo, int hi)
{
    const place *p = place_of(b, turn);
    if (hi - lo == b->n && p->kind == BY_ALL && sk_board_crowded(b)) {
        reach(b, count_of(b, p), p->arrived);
        return true;
    }
    line *lines = p->lines;
    uint32_t differ = 0, sign = b->sign;
    uint64_t value = b->first + turn + 1;
    for (int i = lo; i < hi; i++) {
        reach(b, &lines[i].bell, value);
        differ |= atomic_load_explicit(&lines[i].bell.sign, memory_order_relaxed) ^ sign;
    }
    return !differ;
}

static inline bool sk_board_was_last(sk_board *b, uint32_t turn)
{
    return place_of(b, turn)->last;
}

static inline void sk_board_announce(sk_board *b, uint32_t turn)
{
    sk_bell_set(&place_of(b, turn)->lines[b->n].bell, b->first + turn + 1, &b->pause);
}

static inline void sk_board_await_result(sk_board *b, uint32_t turn)
{
    reach(b, &place_of(b, turn)->lines[b->n].bell, b->first + turn + 1);
}

/* Turns below this one are over here, also those that were not used and so need not be given. */
static inline void sk_board_pass(sk_board *b, uint32_t turns)
{
    if (b->next < b->first + turns)
        b->next = b->first + turns;
    sk_bell_set(&b->passed[b->me].bell, b->first + turns, &b->pause);
}

#endif
