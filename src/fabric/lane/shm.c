/* shm.c: the lane through shared memory. shm_inner.h describes the inbox. */
#include <stdlib.h>
#include <time.h>

#include "base/attr.h"
#include "fabric/lane/shm_inner.h"
#include "shm/cma.h"

/* --- names ---
 *
 * An endpoint's name on this lane is its process and the file descriptor of its inbox. The
 * segment's key follows from the endpoint's id, which peers know anyway. */

typedef struct sk_shm_lane_name {
    int32_t pid, fd;
} sk_shm_lane_name;

static void inbox_key(uint64_t id, uint64_t key[2])
{
    key[0] = id;
    key[1] = ~id * UINT64_C(0x9e3779b97f4a7c15);
}

static bool name_read(const void *bytes, size_t len, sk_shm_lane_name *out)
{
    sk_shm_lane_name name;
    if (len != sizeof name)
        return false;
    memcpy(&name, bytes, sizeof name);
    if (name.pid <= 0 || name.fd < 0)
        return false;
    *out = name;
    return true;
}

static int shm_get_name(sk_lane *l, void *name, size_t *len)
{
    sk_shm_lane *s = (sk_shm_lane *)l;
    sk_shm_lane_name mine = {.pid = s->note.pid, .fd = s->note.fd};
    if (*len < sizeof mine)
        return -ENOSPC;
    memcpy(name, &mine, sizeof mine);
    *len = sizeof mine;
    return 0;
}

/* --- sending: claim a slot in the peer's inbox and push packets into its ring --- */

/* Claim the first free slot, so that the owner has few slots to look at. */
static int slot_claim(sk_inbox *b, const sk_process_id *self, uint64_t id, uint32_t *out)
{
    uint64_t who = (uint64_t)(uint32_t)self->pid << 32;
    for (uint32_t i = 0; i < SK_INBOX_SLOTS; i++) {
        sk_inbox_slot *slot = &b->slots[i];
        uint64_t is = atomic_load_explicit(&slot->state, memory_order_relaxed);
        if (is != SK_SLOT_FREE ||
            !atomic_compare_exchange_strong(&slot->state, &is, who | SK_SLOT_CLAIMED))
            continue;
        uint32_t high = atomic_load(&b->high);
        while (high <= i && !atomic_compare_exchange_weak(&b->high, &high, i + 1))
            ;
        slot->id = id;
        slot->start = self->start;
        atomic_store_explicit(&slot->state, who | SK_SLOT_READY, memory_order_release);
        *out = i;
        return 0;
    }
    return -ENETUNREACH;
}

/* Map the inbox behind a name. It must be the right one and have our layout. */
static int inbox_map(uint64_t id, const sk_shm_lane_name *name, sk_inbox **out)
{
    void *mem;
    sk_segment_handle note = {.pid = name->pid, .fd = name->fd};
    inbox_key(id, note.key);
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

static int shm_connect(sk_lane *l, uint64_t id, const void *bytes, size_t len, uint32_t *peer)
{
    sk_shm_lane *s = (sk_shm_lane *)l;
    sk_shm_lane_name name;
    uint32_t slot;
    if (!name_read(bytes, len, &name))
        return -EINVAL;
    for (uint32_t i = 0; i < s->npeers; i++)
        if (s->peers[i].id == id) {
            *peer = i;
            return 0;
        }
    sk_shm_peer *peers = sk_items_grow(s->peers, s->npeers, &s->capacity, sizeof *peers);
    if (!peers)
        return -ENOMEM;
    s->peers = peers;
    sk_shm_peer *p = &peers[s->npeers];
    *p = (sk_shm_peer){.id = id, .process.pid = name.pid};
    int err = inbox_map(id, &name, &p->inbox);
    if (err)
        return err;
    err = slot_claim(p->inbox, &s->self, s->config.id, &slot);
    if (err) {
        sk_segment_unmap(p->inbox, sizeof(sk_inbox));
        return err;
    }
    p->process.start = p->inbox->start;
    p->slot = &p->inbox->slots[slot];
    p->doorbell = &p->inbox->doorbells[slot / 64];
    p->bit = UINT64_C(1) << slot % 64;
    p->ring = (sk_ring_writer){.bytes = p->inbox->rings[slot], .done = &p->slot->done};
    *peer = s->npeers++;
    return 0;
}

/* Stop sending to a peer: give up the slot and unmap the inbox. */
static void peer_disconnect(sk_shm_peer *p)
{
    if (!p->inbox)
        return;
    uint64_t is = atomic_load_explicit(&p->slot->state, memory_order_relaxed);
    atomic_store(&p->slot->state, (is & ~(uint64_t)UINT32_MAX) | SK_SLOT_LEFT);
    atomic_fetch_or(p->doorbell, p->bit);
    sk_segment_unmap(p->inbox, sizeof(sk_inbox));
    p->inbox = NULL;
}

/* A packet was pushed: ring the doorbell unless the receiver polls this slot. The fence pairs with
 * the receiver's fences: the receiver first changes `notify` or clears the bit and then looks for
 * packets. */
static int announce(sk_shm_lane *s, sk_shm_peer *p)
{
    atomic_thread_fence(memory_order_seq_cst);
    uint32_t notify = atomic_load_explicit(&p->slot->notify, memory_order_relaxed);
    if (notify == SK_NOTIFY_POLLED)
        return 0;
    if (notify != SK_NOTIFY_DOORBELL) {
        s->peer_closed = true;
        return -EPIPE;
    }
    if (!(atomic_load_explicit(p->doorbell, memory_order_relaxed) & p->bit))
        atomic_fetch_or_explicit(p->doorbell, p->bit, memory_order_release);
    return 0;
}

SK_HOT static int shm_send(sk_lane *l, uint32_t peer, const struct iovec *part, int nparts)
{
    sk_shm_lane *s = (sk_shm_lane *)l;
    if (peer >= s->npeers)
        return -EINVAL;
    sk_shm_peer *p = &s->peers[peer];
    size_t len = sk_parts_len(part, nparts);
    if (!p->inbox)
        return -EPIPE;
    if (len > SK_RING_PACKET)
        return -EMSGSIZE;
    if (sk_ring_push(&p->ring, part, nparts, len))
        return announce(s, p);
    if (atomic_load_explicit(&p->slot->notify, memory_order_relaxed) != SK_NOTIFY_CLOSED)
        return -EAGAIN;
    s->peer_closed = true;
    return -EPIPE;
}

/* --- receiving: take packets out of the inbox --- */

enum {
    DRAIN_MAX = 64,                          /* packets of a slot before other slots are served */
    RING_MAX = SK_RING_BYTES / SK_RING_LINE, /* the most packets that a ring can hold */
    IDLE_POLLS = 1024 /* a slot without a packet for so many polls may lose its direct polling */
};

static void mark_pending(sk_shm_lane *s, uint32_t slot)
{
    s->pending[slot / 64] |= UINT64_C(1) << slot % 64;
}

/* Rely on the doorbell of this slot again. */
static void slot_unpoll(sk_shm_lane *s, uint32_t slot)
{
    if (!s->senders[slot].polled)
        return;
    s->senders[slot].polled = false;
    for (uint32_t i = 0; i < s->npolled; i++)
        if (s->polled[i].slot == slot) {
            s->polled[i] = s->polled[--s->npolled];
            break;
        }
    atomic_store_explicit(&s->inbox->slots[slot].notify, SK_NOTIFY_DOORBELL, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    mark_pending(s, slot);
}

/* Poll a busy slot directly, if there is a place for it or an idle slot can give up its place. */
static void slot_poll(sk_shm_lane *s, uint32_t slot)
{
    if (s->npolled == SK_INBOX_POLLED) {
        uint32_t oldest = 0;
        for (uint32_t i = 1; i < SK_INBOX_POLLED; i++)
            if (s->polled[i].used < s->polled[oldest].used)
                oldest = i;
        if (s->tick - s->polled[oldest].used < IDLE_POLLS)
            return;
        slot_unpoll(s, s->polled[oldest].slot);
    }
    s->senders[slot].polled = true;
    s->polled[s->npolled].slot = slot;
    s->polled[s->npolled++].used = s->tick;
    atomic_store_explicit(&s->inbox->slots[slot].notify, SK_NOTIFY_POLLED, memory_order_relaxed);
}

/* Copy the sender's identity out of the slot. The sender cannot change the copy. */
static bool identify_sender(sk_shm_lane *s, uint32_t slot)
{
    sk_inbox_slot *at = &s->inbox->slots[slot];
    sk_shm_sender *from = &s->senders[slot];
    uint64_t state = atomic_load_explicit(&at->state, memory_order_acquire);
    if ((uint32_t)state != SK_SLOT_READY && (uint32_t)state != SK_SLOT_LEFT)
        return false;
    *from = (sk_shm_sender){.ring = {.bytes = s->inbox->rings[slot], .done = &at->done},
                            .id = at->id,
                            .process = {.pid = (int32_t)(state >> 32), .start = at->start},
                            .known = true};
    return true;
}

/* Report that an endpoint is gone, once, and disconnect from it. Returns the number of events. */
static int report_gone(sk_shm_lane *s, uint64_t id, int status)
{
    for (uint32_t i = 0; i < s->npeers; i++)
        if (s->peers[i].id == id) {
            if (s->peers[i].reported)
                return 0;
            s->peers[i].reported = true;
            peer_disconnect(&s->peers[i]);
            break;
        }
    s->config.events.gone(s->config.events.self, id, status);
    return 1;
}

/* A sender broke the ring's protocol: ignore it from now on. */
static int reject_sender(sk_shm_lane *s, uint32_t slot)
{
    slot_unpoll(s, slot);
    s->senders[slot].broken = true;
    atomic_store(&s->inbox->slots[slot].notify, SK_NOTIFY_CLOSED);
    return report_gone(s, s->senders[slot].id, -EPROTO);
}

/* Report the next packets for prefetching. `ahead` packets after the current one were reported
 * already; `next` stands behind the last of them. */
static void prefetch_packets(sk_shm_lane *s, uint64_t id, sk_ring_reader *next, int *ahead)
{
    enum { AHEAD = 2 };
    const sk_lane_events *e = &s->config.events;
    const void *data;
    size_t len;
    while (e->prefetch && *ahead < AHEAD && sk_ring_front(next, &data, &len) > 0) {
        e->prefetch(e->self, id, data, len);
        next->at += sk_ring_record(len);
        ++*ahead;
    }
}

/* Deliver the packets of a slot: all of them, or up to DRAIN_MAX and the rest later. Returns the
 * number of events. */
SK_HOT static int slot_drain(sk_shm_lane *s, uint32_t slot, bool all)
{
    sk_shm_sender *from = &s->senders[slot];
    const void *data;
    size_t len;
    int n = 0, ahead = -1;
    if ((!from->known && !identify_sender(s, slot)) || from->broken)
        return 0;
    sk_ring_reader next = from->ring;
    for (int most = all ? RING_MAX : DRAIN_MAX; n < most; n++) {
        int got = sk_ring_front(&from->ring, &data, &len);
        if (got == 0)
            return n;
        if (got < 0)
            return n + reject_sender(s, slot);
        if (ahead < 0) {
            next.at = from->ring.at + sk_ring_record(len);
            ahead = 0;
        }
        if (n > 0) /* packets come in bursts: the second one makes more likely */
            prefetch_packets(s, from->id, &next, &ahead);
        s->config.events.packet(s->config.events.self, from->id, data, len);
        sk_ring_pop(&from->ring, len);
        ahead--;
    }
    mark_pending(s, slot);
    return n;
}

/* Reset a slot for the next sender. */
static void slot_reset(sk_shm_lane *s, uint32_t slot)
{
    sk_inbox_slot *at = &s->inbox->slots[slot];
    slot_unpoll(s, slot);
    s->senders[slot] = (sk_shm_sender){0};
    atomic_store_explicit(sk_ring_word(s->inbox->rings[slot], 0), 0, memory_order_relaxed);
    atomic_store_explicit(&at->done, 0, memory_order_relaxed);
    atomic_store_explicit(&at->notify, SK_NOTIFY_DOORBELL, memory_order_relaxed);
    atomic_store_explicit(&at->state, SK_SLOT_FREE, memory_order_release);
}

/* The sender of a slot has left it or is dead: deliver its packets, report it, free the slot. */
static int slot_reclaim(sk_shm_lane *s, uint32_t slot)
{
    int n = slot_drain(s, slot, true);
    sk_shm_sender *from = &s->senders[slot];
    uint64_t id = from->id;
    bool report = from->known && !from->broken;
    slot_reset(s, slot);
    return report ? n + report_gone(s, id, -EPIPE) : n;
}

/* Drain the slots whose doorbell is set. The fence pairs with the one in announce: if a sender
 * pushed a packet and still saw the bit set, we see the packet here. */
static int drain_word(sk_shm_lane *s, uint32_t word)
{
    int n = 0;
    uint64_t bits = s->pending[word] | atomic_exchange(&s->inbox->doorbells[word], 0);
    s->pending[word] = 0;
    atomic_thread_fence(memory_order_seq_cst);
    for (; bits; bits &= bits - 1) {
        uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
        int got = slot_drain(s, slot, false);
        uint64_t state = atomic_load_explicit(&s->inbox->slots[slot].state, memory_order_acquire);
        if ((uint32_t)state == SK_SLOT_LEFT)
            got += slot_reclaim(s, slot);
        else if (got && !s->senders[slot].polled && !s->senders[slot].broken)
            slot_poll(s, slot);
        n += got;
    }
    return n;
}

/* --- peers and senders that are gone --- */

/* A peer is lost: deliver its packets first, then report it. */
static int peer_lost(sk_shm_lane *s, const sk_shm_peer *p)
{
    int n = 0;
    uint64_t id = p->id;
    for (uint32_t slot = 0; slot < sk_inbox_high(s->inbox); slot++)
        if (s->senders[slot].known ? s->senders[slot].id == id : s->inbox->slots[slot].id == id)
            n += slot_drain(s, slot, true);
    return n + report_gone(s, id, -EPIPE);
}

static bool peer_is_closed(const sk_shm_peer *p)
{
    return p->inbox &&
           (atomic_load(&p->inbox->closed) || atomic_load(&p->slot->notify) == SK_NOTIFY_CLOSED);
}

/* A send has found a closed inbox: find all peers that have closed theirs. */
static int find_closed_peers(sk_shm_lane *s)
{
    int n = 0;
    s->peer_closed = false;
    for (uint32_t i = 0; i < s->npeers; i++)
        if (peer_is_closed(&s->peers[i]))
            n += peer_lost(s, &s->peers[i]);
    return n;
}

static int check_peer(sk_shm_lane *s, const sk_shm_peer *p)
{
    if (!p->inbox || p->process.pid == s->self.pid)
        return 0;
    return peer_is_closed(p) || sk_process_ended(&p->process) ? peer_lost(s, p) : 0;
}

static int check_slot(sk_shm_lane *s, uint32_t slot)
{
    uint64_t state = atomic_load_explicit(&s->inbox->slots[slot].state, memory_order_acquire);
    sk_process_id sender = {.pid = (int32_t)(state >> 32)};
    if (state == SK_SLOT_FREE || sender.pid == s->self.pid)
        return 0;
    if ((uint32_t)state != SK_SLOT_CLAIMED)
        sender.start = s->inbox->slots[slot].start;
    return (uint32_t)state == SK_SLOT_LEFT || sk_process_ended(&sender) ? slot_reclaim(s, slot) : 0;
}

/* Check whether peers and senders still exist: a few per call, all of them within about a second.
 */
static int check_processes(sk_shm_lane *s)
{
    enum { EVERY_MS = 10, PARTS = 64 };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    int64_t ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (ms - s->checked_at < EVERY_MS)
        return 0;
    s->checked_at = ms;
    int n = 0;
    uint32_t all = s->npeers + sk_inbox_high(s->inbox);
    for (uint32_t i = 0; i < all / PARTS + 1 && all; i++) {
        uint32_t which = s->checked < all ? s->checked : 0;
        s->checked = which + 1;
        n += which < s->npeers ? check_peer(s, &s->peers[which]) : check_slot(s, which - s->npeers);
    }
    return n;
}

SK_HOT static int shm_poll(sk_lane *l)
{
    enum { CHECK_POLLS = 64 };
    sk_shm_lane *s = (sk_shm_lane *)l;
    int n = 0;
    s->tick++;
    for (uint32_t i = 0; i < s->npolled; i++) {
        uint32_t slot = s->polled[i].slot;
        if (sk_ring_has_packet(&s->senders[slot].ring)) {
            s->polled[i].used = s->tick;
            n += slot_drain(s, slot, false);
        }
    }
    uint32_t words = (sk_inbox_high(s->inbox) + 63) / 64;
    for (uint32_t w = 0; w < words; w++)
        if (s->pending[w] | atomic_load_explicit(&s->inbox->doorbells[w], memory_order_relaxed))
            n += drain_word(s, w);
    if (s->peer_closed)
        n += find_closed_peers(s);
    if (s->tick % CHECK_POLLS == 0)
        n += check_processes(s);
    return n;
}

/* --- single copy: read long messages straight out of the sender's memory (CMA) --- */

static int shm_export(sk_lane *l, const void *data, size_t len, sk_lane_source *out, void **handle)
{
    if (!l->can_read)
        return -EPERM;
    *out = (sk_lane_source){.at = (uint64_t)(uintptr_t)data, .len = len};
    *handle = NULL;
    return 0;
}

static void shm_unexport(sk_lane *l, void *handle)
{
    (void)l;
    (void)handle;
}

/* Does the kernel let us read this peer? Tried once per peer, on a word whose value we know. */
static bool peer_readable(sk_shm_peer *p)
{
    uint64_t found = 0;
    sk_export_handle probe = {.address = p->inbox->probe, .pid = p->process.pid};
    if (p->readable == SK_READ_UNTRIED) {
        bool yes = sk_cma_read(probe, 0, &found, sizeof found) == SK_OK && found == p->id;
        p->readable = yes ? SK_READ_YES : SK_READ_NO;
    }
    return p->readable == SK_READ_YES;
}

static int shm_read(sk_lane *l, uint32_t peer, const sk_lane_source *from, uint64_t skip, void *to,
                    size_t len, void *context)
{
    sk_shm_lane *s = (sk_shm_lane *)l;
    (void)context;
    if (peer >= s->npeers || skip > from->len || len > from->len - skip || len > INT64_MAX)
        return -EINVAL;
    sk_shm_peer *p = &s->peers[peer];
    if (!p->inbox)
        return -EPIPE;
    if (!l->can_read || !peer_readable(p))
        return -EPERM;
    sk_export_handle source = {.address = from->at + skip, .pid = p->process.pid};
    if (sk_cma_read(source, 0, to, (int64_t)len) == SK_OK)
        return 1;
    return sk_process_ended(&p->process) ? -EPIPE : -EFAULT;
}

/* --- open and close --- */

static void inbox_init(sk_shm_lane *s)
{
    s->inbox->start = s->self.start;
    s->inbox->probe = (uint64_t)(uintptr_t)&s->config.id;
    s->inbox->layout = SK_INBOX_LAYOUT;
    inbox_key(s->config.id, s->note.key);
    memcpy(s->inbox->segment, s->note.key, sizeof s->note.key);
}

static int shm_open_lane(sk_lane **out, const sk_lane_config *config)
{
    void *mem;
    sk_shm_lane *s = calloc(1, sizeof *s);
    sk_shm_sender *senders = calloc(SK_INBOX_SLOTS, sizeof *senders);
    if (!s || !senders)
        goto out;
    *s = (sk_shm_lane){.config = *config, .senders = senders, .self = sk_process_self()};
    s->lane = (sk_lane){.ops = &sk_lane_shm, .max_packet = SK_RING_PACKET, .can_read = config->cma};
    if (sk_segment_make(sizeof(sk_inbox), &mem, &s->note) != SK_OK)
        goto out;
    s->inbox = mem;
    inbox_init(s);
    *out = &s->lane;
    return 0;
out:
    free(senders);
    free(s);
    return -ENOMEM;
}

/* Leave the slots at peers first, then close the inbox: a peer that finds it closed has received
 * all that we have sent. */
static void shm_close_lane(sk_lane *l)
{
    sk_shm_lane *s = (sk_shm_lane *)l;
    for (uint32_t i = 0; i < s->npeers; i++)
        peer_disconnect(&s->peers[i]);
    atomic_store(&s->inbox->closed, 1);
    for (uint32_t i = 0; i < sk_inbox_high(s->inbox); i++)
        atomic_store(&s->inbox->slots[i].notify, SK_NOTIFY_CLOSED);
    sk_segment_unmap(s->inbox, sizeof(sk_inbox));
    sk_segment_close(&s->note);
    free(s->peers);
    free(s->senders);
    free(s);
}

const sk_lane_ops sk_lane_shm = {
    .name = "shm",
    .open = shm_open_lane,
    .close = shm_close_lane,
    .get_name = shm_get_name,
    .connect = shm_connect,
    .send = shm_send,
    .poll = shm_poll,
    .export = shm_export,
    .unexport = shm_unexport,
    .read = shm_read,
};
