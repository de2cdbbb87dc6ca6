/* board.c: what is rare in turns. */
#include "shm/epochs.h"

/* Asked for in the order of turns, so that a look at all mates lasts for many questions. NULL: they
 * have passed this many; else who has passed the fewest. */
static sk_bell *slowest(sk_board *b, uint64_t turns)
{
    sk_bell *found = NULL;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < b->n; i++) {
        sk_bell *bell = &b->passed[i].bell;
        uint64_t seen = atomic_load_explicit(&bell->value, memory_order_acquire);
        if (i == b->me || seen >= least)
            continue;
        least = seen;
        found = bell;
    }
    b->known = least;
    return least < turns ? found : NULL;
}

void sk_board_await_passed(sk_board *b, uint64_t turns)
{
    sk_bell *bell;
    while (b->known < turns && (bell = slowest(b, turns)))
        sk_bell_wait(bell, turns, &b->pause);
}

/* Who has run ahead until there was no bay left would wait in every turn from now on, for the
 * slowest mate to pass just one more. So it waits, once, until half of them are free. Of few bays
 * it does not: that would be to wait longer for little, and mates may fill a turn before they have
 * emptied the one before it. */
void sk_board_await_bay(sk_board *b, uint64_t after, uint64_t now)
{
    enum { MANY = 64 };
    sk_bell *bell = slowest(b, after);
    if (!bell)
        return;
    if (now - after < MANY) {
        sk_board_await_passed(b, after);
        return;
    }
    after += (now - after) / 2;
    while ((bell = slowest(b, after)))
        sk_bell_wait_long(bell, after, &b->pause);
}

void sk_board_place_bays(const sk_board *b, place *p, uint64_t turn, int64_t room)
{
    uint32_t i = 1, last = (uint32_t)b->nrings - 1;
    while (i < last && b->ring[i].bay < room)
        i++;
    const ring *r = &b->ring[i];
    p->ring = i;
    p->bay = bay_of(r, turn, p->kind);
    p->bays = r->at + p->bay * r->row;
    p->step = r->step;
}

void sk_board_settle(sk_board *b, uint32_t turn)
{
    sk_board_await_passed(b, b->first + turn + 1);
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
