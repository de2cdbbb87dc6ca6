/* board.c: what is rare in epochs. */
#include "shm/epochs.h"

/* Asked for in the order of epochs, so that a look at all local ranks lasts for many questions. NULL: they
 * have passed this many; else who has passed the fewest. */
static sk_flag *slowest(sk_shm *b, uint64_t epochs)
{
    sk_flag *found = NULL;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < b->n; i++) {
        sk_flag *bell = &b->released[i].bell;
        uint64_t seen = atomic_load_explicit(&bell->value, memory_order_acquire);
        if (i == b->me || seen >= least)
            continue;
        least = seen;
        found = bell;
    }
    b->known = least;
    return least < epochs ? found : NULL;
}

void sk_shm_await_released(sk_shm *b, uint64_t epochs)
{
    sk_flag *bell;
    while (b->known < epochs && (bell = slowest(b, epochs)))
        sk_flag_wait(bell, epochs, &b->waiting);
}

/* Who has run ahead until there was no slot left would wait in every epoch from now on, for the
 * slowest local rank to pass just one more. So it waits, once, until half of them are free. Of few slots
 * it does not: that would be to wait longer for little, and local ranks may fill an epoch before they have
 * emptied the one before it. */
void sk_shm_await_slot(sk_shm *b, uint64_t after, uint64_t now)
{
    enum { MANY = 64 };
    sk_flag *bell = slowest(b, after);
    if (!bell)
        return;
    if (now - after < MANY) {
        sk_shm_await_released(b, after);
        return;
    }
    after += (now - after) / 2;
    while ((bell = slowest(b, after)))
        sk_flag_wait_long(bell, after, &b->waiting);
}

void sk_shm_place_slots(const sk_shm *b, place *p, uint64_t epoch, int64_t room)
{
    uint32_t i = 1, last = (uint32_t)b->nrings - 1;
    while (i < last && b->ring[i].slot < room)
        i++;
    const ring *r = &b->ring[i];
    p->ring = i;
    p->slot = slot_of(r, epoch, p->kind);
    p->slots = r->at + p->slot * r->row;
    p->step = r->step;
}

void sk_shm_quiesce(sk_shm *b, uint32_t epoch)
{
    sk_shm_await_released(b, b->first + epoch + 1);
}

/* ---- messages ---- */

void sk_shm_send(sk_shm *b, int local_rank, const void *from, int64_t len)
{
    sk_fifos_send(b->fifos, local_rank, from, len);
}

void sk_shm_recv(sk_shm *b, int local_rank, void *to, int64_t len)
{
    sk_fifos_recv(b->fifos, local_rank, to, len);
}

bool sk_shm_finish(sk_shm *b)
{
    return sk_fifos_finish(b->fifos, &b->waiting);
}
