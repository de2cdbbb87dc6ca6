/* lane_shm_send.c: find a peer's inbox, claim a seat in it, put packets there. */
#include "base/hot.h"
#include "fabric/lane_shm_name.h"

/* The first seat that is free, so that the owner has few to look at. */
static int seat_claim(sk_inbox *b, const sk_process *self, uint64_t id, uint32_t *out)
{
    uint64_t who = (uint64_t)(uint32_t)self->pid << 32;
    for (uint32_t i = 0; i < SK_SEATS; i++) {
        sk_shm_lane_seat *seat = &b->seats[i];
        uint64_t is = atomic_load_explicit(&seat->state, memory_order_relaxed);
        if (is != SK_SEAT_FREE ||
            !atomic_compare_exchange_strong(&seat->state, &is, who | SK_SEAT_CLAIMED))
            continue;
        uint32_t high = atomic_load(&b->high);
        while (high <= i && !atomic_compare_exchange_weak(&b->high, &high, i + 1))
            ;
        seat->id = id;
        seat->start = self->start;
        atomic_store_explicit(&seat->state, who | SK_SEAT_READY, memory_order_release);
        *out = i;
        return 0;
    }
    return -ENETUNREACH;
}

/* Open the inbox behind a name: it must be the one meant, and laid out as ours is. */
static int inbox_open(uint64_t id, const sk_shm_lane_name *name, sk_inbox **out)
{
    void *mem;
    sk_segment_note note = {.pid = name->pid, .fd = name->fd};
    sk_shm_lane_key(id, note.key);
    if (sk_segment_map(&note, sizeof(sk_inbox), &mem) != SK_OK)
        return -ENETUNREACH;
    sk_inbox *b = mem;
    if (b->layout != SK_INBOX_LAYOUT || atomic_load(&b->closed)) {
        sk_segment_unmap(mem, sizeof(sk_inbox));
        return -ENETUNREACH;
    }
    *out = b;
    return 0;
}

int sk_shm_lane_reach(sk_lane *l, uint64_t id, const void *bytes, size_t len, uint32_t *peer)
{
    sk_shm_lane *s = (sk_shm_lane *)l;
    sk_shm_lane_name name;
    uint32_t seat;
    if (!sk_shm_lane_name_read(bytes, len, &name))
        return -EINVAL;
    for (uint32_t i = 0; i < s->nmates; i++)
        if (s->mates[i].id == id) {
            *peer = i;
            return 0;
        }
    sk_shm_lane_mate *mates = sk_items_grow(s->mates, s->nmates, &s->room, sizeof *mates);
    if (!mates)
        return -ENOMEM;
    s->mates = mates;
    sk_shm_lane_mate *m = &mates[s->nmates];
    *m = (sk_shm_lane_mate){.id = id, .process.pid = name.pid};
    int err = inbox_open(id, &name, &m->inbox);
    if (err)
        return err;
    err = seat_claim(m->inbox, &s->self, s->config.id, &seat);
    if (err) {
        sk_segment_unmap(m->inbox, sizeof(sk_inbox));
        return err;
    }
    m->process.start = m->inbox->start;
    m->seat = &m->inbox->seats[seat];
    m->news = &m->inbox->news[seat / 64];
    m->bit = UINT64_C(1) << seat % 64;
    m->ring = (sk_ring_writer){.bytes = m->inbox->rings[seat], .done = &m->seat->done};
    *peer = s->nmates++;
    return 0;
}

void sk_shm_lane_leave(sk_shm_lane_mate *m)
{
    if (!m->inbox)
        return;
    uint64_t is = atomic_load_explicit(&m->seat->state, memory_order_relaxed);
    atomic_store(&m->seat->state, (is & ~(uint64_t)UINT32_MAX) | SK_SEAT_LEFT);
    atomic_fetch_or(m->news, m->bit);
    sk_segment_unmap(m->inbox, sizeof(sk_inbox));
    m->inbox = NULL;
}

/* A packet has been put: does its receiver look by itself, or does it need the bit? The fence pairs
 * with those of the receiver, who changes its mood or takes the bit away first and then looks for
 * packets. */
static int announce(sk_shm_lane *s, sk_shm_lane_mate *m)
{
    atomic_thread_fence(memory_order_seq_cst);
    uint32_t mood = atomic_load_explicit(&m->seat->mood, memory_order_relaxed);
    if (mood == SK_MOOD_WATCHED)
        return 0;
    if (mood != SK_MOOD_BITS) {
        s->closed = true;
        return -EPIPE;
    }
    if (!(atomic_load_explicit(m->news, memory_order_relaxed) & m->bit))
        atomic_fetch_or_explicit(m->news, m->bit, memory_order_release);
    return 0;
}

SK_HOT int sk_shm_lane_send(sk_lane *l, uint32_t peer, const struct iovec *part, int nparts)
{
    sk_shm_lane *s = (sk_shm_lane *)l;
    if (peer >= s->nmates)
        return -EINVAL;
    sk_shm_lane_mate *m = &s->mates[peer];
    size_t len = sk_parts_len(part, nparts);
    if (!m->inbox)
        return -EPIPE;
    if (len > SK_RING_PACKET)
        return -EMSGSIZE;
    if (sk_ring_put(&m->ring, part, nparts, len))
        return announce(s, m);
    if (atomic_load_explicit(&m->seat->mood, memory_order_relaxed) != SK_MOOD_CLOSED)
        return -EAGAIN;
    s->closed = true;
    return -EPIPE;
}
