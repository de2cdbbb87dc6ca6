/* lane_shm_poll.c: take packets out of the inbox. */
#include "base/hot.h"
#include "fabric/lane_shm.h"

enum {
    TURN = 64,                           /* packets of a seat before others get their turn */
    FULL = SK_RING_BYTES / SK_RING_LINE, /* the most a seat can hold */
    FORGOTTEN = 1024 /* polls without a packet after which a seat need not be watched */
};

static void look_again(sk_shm_lane *s, uint32_t seat)
{
    s->left[seat / 64] |= UINT64_C(1) << seat % 64;
}

void sk_shm_lane_unwatch(sk_shm_lane *s, uint32_t seat)
{
    if (!s->senders[seat].watched)
        return;
    s->senders[seat].watched = false;
    for (uint32_t i = 0; i < s->nwatched; i++)
        if (s->watched[i].seat == seat) {
            s->watched[i] = s->watched[--s->nwatched];
            break;
        }
    atomic_store_explicit(&s->inbox->seats[seat].mood, SK_MOOD_BITS, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    look_again(s, seat);
}

/* Watch a seat that was busy, if there is room or one that was not for long. */
static void watch(sk_shm_lane *s, uint32_t seat)
{
    if (s->nwatched == SK_WATCHED) {
        uint32_t oldest = 0;
        for (uint32_t i = 1; i < SK_WATCHED; i++)
            if (s->watched[i].used < s->watched[oldest].used)
                oldest = i;
        if (s->tick - s->watched[oldest].used < FORGOTTEN)
            return;
        sk_shm_lane_unwatch(s, s->watched[oldest].seat);
    }
    s->senders[seat].watched = true;
    s->watched[s->nwatched].seat = seat;
    s->watched[s->nwatched++].used = s->tick;
    atomic_store_explicit(&s->inbox->seats[seat].mood, SK_MOOD_WATCHED, memory_order_relaxed);
}

/* Note down who sits there: the sender cannot change it any more. */
static bool get_to_know(sk_shm_lane *s, uint32_t seat)
{
    sk_shm_lane_seat *at = &s->inbox->seats[seat];
    sk_shm_lane_sender *from = &s->senders[seat];
    uint64_t state = atomic_load_explicit(&at->state, memory_order_acquire);
    if ((uint32_t)state != SK_SEAT_READY && (uint32_t)state != SK_SEAT_LEFT)
        return false;
    *from = (sk_shm_lane_sender){.ring = {.bytes = s->inbox->rings[seat], .done = &at->done},
                                 .id = at->id,
                                 .process = {.pid = (int32_t)(state >> 32), .start = at->start},
                                 .known = true};
    return true;
}

/* A sender that breaks the rules is not listened to any more. */
static int refuse(sk_shm_lane *s, uint32_t seat)
{
    sk_shm_lane_unwatch(s, seat);
    s->senders[seat].broken = true;
    atomic_store(&s->inbox->seats[seat].mood, SK_MOOD_CLOSED);
    return sk_shm_lane_tell(s, s->senders[seat].id, -EPROTO);
}

/* Some packets further: `ahead` packets after the one at hand were told of already, and `far` is
 * behind the last of them. */
static void look_ahead(sk_shm_lane *s, uint64_t id, sk_ring_reader *far, int *ahead)
{
    enum { AHEAD = 2 };
    const sk_lane_events *e = &s->config.events;
    const void *data;
    size_t len;
    while (e->glance && *ahead < AHEAD && sk_ring_take(far, &data, &len) > 0) {
        e->glance(e->self, id, data, len);
        far->at += sk_ring_record(len);
        ++*ahead;
    }
}

SK_HOT int sk_shm_lane_drain(sk_shm_lane *s, uint32_t seat, bool all)
{
    sk_shm_lane_sender *from = &s->senders[seat];
    const void *data;
    size_t len;
    int n = 0, ahead = -1;
    if ((!from->known && !get_to_know(s, seat)) || from->broken)
        return 0;
    sk_ring_reader far = from->ring;
    for (int most = all ? FULL : TURN; n < most; n++) {
        int got = sk_ring_take(&from->ring, &data, &len);
        if (got == 0)
            return n;
        if (got < 0)
            return n + refuse(s, seat);
        if (ahead < 0) {
            far.at = from->ring.at + sk_ring_record(len);
            ahead = 0;
        }
        if (n > 0) /* they come in crowds */
            look_ahead(s, from->id, &far, &ahead);
        s->config.events.packet(s->config.events.self, from->id, data, len);
        sk_ring_drop(&from->ring, len);
        ahead--;
    }
    look_again(s, seat);
    return n;
}

/* Seats whose bit is set. The fence pairs with the senders': whoever has put a packet and saw the
 * bit still set has put it before we look. */
static int drain_word(sk_shm_lane *s, uint32_t word)
{
    int n = 0;
    uint64_t bits = s->left[word] | atomic_exchange(&s->inbox->news[word], 0);
    s->left[word] = 0;
    atomic_thread_fence(memory_order_seq_cst);
    for (; bits; bits &= bits - 1) {
        uint32_t seat = word * 64 + (uint32_t)__builtin_ctzll(bits);
        int got = sk_shm_lane_drain(s, seat, false);
        uint64_t state = atomic_load_explicit(&s->inbox->seats[seat].state, memory_order_acquire);
        if ((uint32_t)state == SK_SEAT_LEFT)
            got += sk_shm_lane_bury(s, seat);
        else if (got && !s->senders[seat].watched && !s->senders[seat].broken)
            watch(s, seat);
        n += got;
    }
    return n;
}

SK_HOT int sk_shm_lane_poll(sk_lane *l)
{
    enum { CHECK = 64 };
    sk_shm_lane *s = (sk_shm_lane *)l;
    int n = 0;
    s->tick++;
    for (uint32_t i = 0; i < s->nwatched; i++) {
        uint32_t seat = s->watched[i].seat;
        if (sk_ring_news(&s->senders[seat].ring)) {
            s->watched[i].used = s->tick;
            n += sk_shm_lane_drain(s, seat, false);
        }
    }
    uint32_t words = (sk_inbox_high(s->inbox) + 63) / 64;
    for (uint32_t w = 0; w < words; w++)
        if (s->left[w] | atomic_load_explicit(&s->inbox->news[w], memory_order_relaxed))
            n += drain_word(s, w);
    if (s->closed)
        n += sk_shm_lane_closed(s);
    if (s->tick % CHECK == 0)
        n += sk_shm_lane_check(s);
    return n;
}
