/* board.c: what is rare in turns. */
#include "board/board_turns.h"

/* Asked for in the order of turns, so that a look at all mates lasts for many questions. */
void sk_board_await_passed(sk_board *b, uint64_t turns)
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

void sk_board_place_bays(const sk_board *b, place *p, uint64_t turn, int64_t room)
{
    uint32_t i = 1, last = (uint32_t)b->nrings - 1;
    while (i < last && b->ring[i].bay < room)
        i++;
    const ring *r = &b->ring[i];
    p->ring = i;
    p->bay = bay_of(r, turn, p->all);
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
