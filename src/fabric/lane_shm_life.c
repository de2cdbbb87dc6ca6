/* lane_shm_life.c: notice peers that are gone, however they went, and clean up after them. */
#include <time.h>

#include "fabric/lane_shm.h"

int sk_shm_lane_tell(sk_shm_lane *s, uint64_t id, int status)
{
    for (uint32_t i = 0; i < s->nmates; i++)
        if (s->mates[i].id == id) {
            if (s->mates[i].told)
                return 0;
            s->mates[i].told = true;
            sk_shm_lane_leave(&s->mates[i]);
            break;
        }
    s->config.events.gone(s->config.events.self, id, status);
    return 1;
}

/* The next sender finds the seat as the first one did. */
static void seat_free(sk_shm_lane *s, uint32_t seat)
{
    sk_shm_lane_seat *at = &s->inbox->seats[seat];
    sk_shm_lane_unwatch(s, seat);
    s->senders[seat] = (sk_shm_lane_sender){0};
    atomic_store_explicit(sk_ring_word(s->inbox->rings[seat], 0), 0, memory_order_relaxed);
    atomic_store_explicit(&at->done, 0, memory_order_relaxed);
    atomic_store_explicit(&at->mood, SK_MOOD_BITS, memory_order_relaxed);
    atomic_store_explicit(&at->state, SK_SEAT_FREE, memory_order_release);
}

int sk_shm_lane_bury(sk_shm_lane *s, uint32_t seat)
{
    int n = sk_shm_lane_drain(s, seat, true);
    sk_shm_lane_sender *from = &s->senders[seat];
    uint64_t id = from->id;
    bool tell = from->known && !from->broken;
    seat_free(s, seat);
    return tell ? n + sk_shm_lane_tell(s, id, -EPIPE) : n;
}

/* What a peer has sent comes before the news that it is gone. */
static int mate_lost(sk_shm_lane *s, const sk_shm_lane_mate *m)
{
    int n = 0;
    uint64_t id = m->id;
    for (uint32_t seat = 0; seat < sk_inbox_high(s->inbox); seat++)
        if (s->senders[seat].known ? s->senders[seat].id == id : s->inbox->seats[seat].id == id)
            n += sk_shm_lane_drain(s, seat, true);
    return n + sk_shm_lane_tell(s, id, -EPIPE);
}

static bool mate_closed(const sk_shm_lane_mate *m)
{
    return m->inbox &&
           (atomic_load(&m->inbox->closed) || atomic_load(&m->seat->mood) == SK_MOOD_CLOSED);
}

int sk_shm_lane_closed(sk_shm_lane *s)
{
    int n = 0;
    s->closed = false;
    for (uint32_t i = 0; i < s->nmates; i++)
        if (mate_closed(&s->mates[i]))
            n += mate_lost(s, &s->mates[i]);
    return n;
}

static int check_mate(sk_shm_lane *s, const sk_shm_lane_mate *m)
{
    if (!m->inbox || m->process.pid == s->self.pid)
        return 0;
    return mate_closed(m) || sk_process_ended(&m->process) ? mate_lost(s, m) : 0;
}

static int check_seat(sk_shm_lane *s, uint32_t seat)
{
    uint64_t state = atomic_load_explicit(&s->inbox->seats[seat].state, memory_order_acquire);
    sk_process sits = {.pid = (int32_t)(state >> 32)};
    if (state == SK_SEAT_FREE || sits.pid == s->self.pid)
        return 0;
    if ((uint32_t)state != SK_SEAT_CLAIMED)
        sits.start = s->inbox->seats[seat].start;
    return (uint32_t)state == SK_SEAT_LEFT || sk_process_ended(&sits) ? sk_shm_lane_bury(s, seat)
                                                                      : 0;
}

/* All within a second or so, a few at a time. */
int sk_shm_lane_check(sk_shm_lane *s)
{
    enum { EVERY_MS = 10, PARTS = 64 };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    int64_t ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (ms - s->checked_at < EVERY_MS)
        return 0;
    s->checked_at = ms;
    int n = 0;
    uint32_t all = s->nmates + sk_inbox_high(s->inbox);
    for (uint32_t i = 0; i < all / PARTS + 1 && all; i++) {
        uint32_t which = s->checked < all ? s->checked : 0;
        s->checked = which + 1;
        n += which < s->nmates ? check_mate(s, &s->mates[which]) : check_seat(s, which - s->nmates);
    }
    return n;
}
