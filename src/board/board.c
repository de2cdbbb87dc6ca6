/* board.c: turns. */
#include "board/board_inner.h"

static place *place_of(sk_board *b, uint32_t turn)
{
    return &b->turn[(b->first + turn) % PLACES];
}

static sk_bell *count_of(const sk_board *b, const place *p)
{
    return &((common *)b->mem)->arrived[p->line].bell;
}

static void reach(const sk_board *b, sk_bell *bell, uint64_t value)
{
    if (!sk_bell_reached(bell, value))
        sk_bell_wait(bell, value, &b->pause);
}

/* All mates have passed so many turns. Asked for in the order of turns, so that a look at all mates
 * lasts for many questions. */
static void await_passed(sk_board *b, uint64_t turns)
{
    if (b->known >= turns)
        return;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < b->n; i++) {
        if (i == b->me)
            continue;
        sk_bell *bell = &b->passed[i].bell;
        reach(b, bell, turns);
        uint64_t seen = atomic_load_explicit(&bell->value, memory_order_acquire);
        least = seen < least ? seen : least;
    }
    b->known = least;
}

/* ---- turns ---- */

void sk_board_begin(sk_board *b, uint32_t sign)
{
    b->first = b->next;
    b->sign = sign;
}

static inline uint32_t bay_of(const ring *r, uint64_t turn, bool all)
{
    return r->first[all] + ((uint32_t)turn & r->mask[all]);
}

void sk_board_turn(sk_board *b, int64_t room, bool all)
{
    uint64_t turn = b->next++;
    const ring *r = b->ring;
    place *p = &b->turn[turn % PLACES];
    uint32_t i = 0, last = (uint32_t)b->nrings - 1, which = bay_of(r, turn, all);
    line *lines = (line *)(r->at + which * r->row);
    p->lines = lines;
    p->bays = lines->bay;
    p->step = LINE;
    p->line = which;
    p->all = all;
    p->open = p->last = false;
    if (all)
        p->arrived = b->arrived[which] += (uint64_t)b->n;
    if (room > INLINE) {
        for (i = 1; i < last && b->ring[i].bay < room;)
            i++;
        r += i;
        p->bay = which = bay_of(r, turn, all);
        p->bays = r->at + which * r->row;
        p->step = r->step;
    }
    p->ring = i;
}

/* This mate writes nothing but its own line and its own bay, and the common one where all publish.
 * So when it comes to the same line and bay again, it is the turn that it opened last with them,
 * and not any other, that mates may still have to read. */
void sk_board_open(sk_board *b, uint32_t turn)
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
    await_passed(b, after);
}

void *sk_board_bay(sk_board *b, uint32_t turn, int mate)
{
    const place *p = place_of(b, turn);
    return p->bays + mate * p->step;
}

/* With a core for every rank each looks at the lines of the others, which hold the data as well; a
 * count would be one more line to pass round. Where cores are shared, one word to look at is less
 * work, and only the last one wakes those who sleep. */
bool sk_board_crowded(const sk_board *b)
{
    return b->pause.mode != SK_PAUSE_SPIN;
}

void sk_board_publish(sk_board *b, uint32_t turn)
{
    place *p = place_of(b, turn);
    if (!p->open)
        sk_board_open(b, turn); /* the line and the count, too, are used again */
    sk_bell *mine = &p->lines[b->me].bell;
    atomic_store_explicit(&mine->sign, b->sign, memory_order_relaxed);
    sk_bell_set(mine, b->first + turn + 1, &b->pause);
    if (!p->all || !sk_board_crowded(b))
        return;
    sk_bell *arrived = count_of(b, p);
    if (atomic_fetch_add_explicit(&arrived->value, 1, memory_order_acq_rel) + 1 == p->arrived) {
        p->last = true;
        sk_bell_wake(arrived);
    }
}

bool sk_board_await(sk_board *b, uint32_t turn, int mate)
{
    sk_bell *bell = &place_of(b, turn)->lines[mate].bell;
    reach(b, bell, b->first + turn + 1);
    return atomic_load_explicit(&bell->sign, memory_order_relaxed) == b->sign;
}

bool sk_board_await_range(sk_board *b, uint32_t turn, int lo, int hi)
{
    const place *p = place_of(b, turn);
    if (hi - lo == b->n && p->all && sk_board_crowded(b)) {
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

bool sk_board_was_last(const sk_board *b, uint32_t turn)
{
    return b->turn[(b->first + turn) % PLACES].last;
}

void sk_board_announce(sk_board *b, uint32_t turn)
{
    sk_bell_set(&place_of(b, turn)->lines[b->n].bell, b->first + turn + 1, &b->pause);
}

void sk_board_await_result(sk_board *b, uint32_t turn)
{
    reach(b, &place_of(b, turn)->lines[b->n].bell, b->first + turn + 1);
}

void sk_board_pass(sk_board *b, uint32_t turns)
{
    if (b->next < b->first + turns)
        b->next = b->first + turns;
    sk_bell_set(&b->passed[b->me].bell, b->first + turns, &b->pause);
}

void sk_board_settle(sk_board *b, uint32_t turn)
{
    await_passed(b, b->first + turn + 1);
}

/* ---- messages ---- */

void sk_board_send(sk_board *b, int mate, const void *from, int64_t len)
{
    sk_chutes_send(b->chutes, mate, from, len);
}

void sk_board_recv(sk_board *b, int mate, void *to, int64_t len)
{
    sk_chutes_recv(b->chutes, mate, to, len);
}

bool sk_board_finish(sk_board *b)
{
    return sk_chutes_finish(b->chutes, &b->pause);
}
