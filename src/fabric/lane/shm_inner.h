/* shm_inner.h: data structures of the shared-memory lane, for shm*.c and their
 * tests.
 *
 * Every endpoint owns an inbox, a shared segment of its own (shm/segment.h). A sender claims a slot
 * in it once; the slot has a ring for this sender alone (shm_ring.h). There are many slots, but a
 * slot takes memory only when it is used. The owner does not look at every slot to find packets:
 *   - it polls the rings of the few slots that were busy recently;
 *   - every other slot has a doorbell bit, which the sender sets after it has pushed a packet.
 * The sender of a polled slot does not touch the doorbells.
 *
 * There is no lock, so a process may be killed at any moment without stopping another. The owner
 * finds dead senders and dead peers by checking, now and then, whether their processes exist. */
#ifndef SK_SHM_LANE_INNER_H
#define SK_SHM_LANE_INNER_H

#include "fabric/lane/lane.h"
#include "fabric/lane/shm_ring.h"
#include "shm/segment.h"

enum {
    SK_INBOX_SLOTS = 1024,
    SK_INBOX_WORDS = SK_INBOX_SLOTS / 64,
    SK_INBOX_POLLED = 8, /* slots that are polled directly */
    SK_INBOX_PAGE = 4096
};

/* State of a slot: low half of sk_inbox_slot.state. The high half is the sender's process id. */
enum { SK_SLOT_FREE, SK_SLOT_CLAIMED, SK_SLOT_READY, SK_SLOT_LEFT };
/* How the sender must announce a packet; written by the owner. */
enum { SK_NOTIFY_DOORBELL, SK_NOTIFY_POLLED, SK_NOTIFY_CLOSED };

typedef struct sk_inbox_slot {
    _Alignas(SK_RING_LINE) _Atomic uint64_t state; /* the sender's cache line */
    uint64_t id, start; /* the sender's endpoint; start time of its process */
    _Alignas(SK_RING_LINE) _Atomic uint64_t done; /* the owner's cache line */
    _Atomic uint32_t notify;
} sk_inbox_slot;

typedef struct sk_inbox {
    unsigned char segment[SK_SEGMENT_HEAD];
    _Alignas(SK_RING_LINE) uint64_t layout; /* SK_INBOX_LAYOUT */
    uint64_t start;                         /* start time of the owner's process */
    uint64_t probe;                         /* address of the owner's id in its own memory */
    _Atomic uint32_t high;                  /* slots from this index on were never claimed */
    _Atomic uint32_t closed;
    _Alignas(SK_RING_LINE) _Atomic uint64_t doorbells[SK_INBOX_WORDS];
    sk_inbox_slot slots[SK_INBOX_SLOTS];
    _Alignas(SK_INBOX_PAGE) unsigned char rings[SK_INBOX_SLOTS][SK_RING_BYTES];
} sk_inbox;

#define SK_INBOX_LAYOUT 0x736b31004d6f7865U

/* A process: the start time tells it from a later one with the same pid. 0: not known. */
typedef struct sk_process_id {
    int32_t pid;
    uint64_t start;
} sk_process_id;

/* A local peer that we send to. */
typedef struct sk_shm_peer {
    sk_ring_writer ring;
    sk_inbox_slot *slot;        /* our slot in its inbox */
    _Atomic uint64_t *doorbell; /* the word with our bit */
    uint64_t bit;
    sk_inbox *inbox; /* NULL: lost */
    uint64_t id;
    sk_process_id process;
    bool reported; /* the endpoint was told that it is gone */
    enum { SK_READ_UNTRIED, SK_READ_YES, SK_READ_NO } readable;
} sk_shm_peer;

/* The sender that uses a slot of our inbox. */
typedef struct sk_shm_sender {
    sk_ring_reader ring;
    uint64_t id;
    sk_process_id process;
    bool known, broken; /* broken: it sent garbage and is ignored */
    bool polled;
} sk_shm_sender;

typedef struct sk_shm_lane {
    sk_lane lane;
    sk_lane_config config;
    sk_process_id self;
    sk_segment_handle note;
    sk_inbox *inbox;
    sk_shm_sender *senders;           /* by slot */
    uint64_t pending[SK_INBOX_WORDS]; /* slots to drain again */
    struct {
        uint32_t slot;
        uint64_t used; /* tick of its last packet */
    } polled[SK_INBOX_POLLED];
    uint32_t npolled;
    uint64_t tick; /* calls of poll */
    sk_shm_peer *peers;
    uint32_t npeers, capacity;
    bool peer_closed;   /* a send found its peer's inbox closed */
    uint32_t checked;   /* next to be checked: peers first, then slots */
    int64_t checked_at; /* ms */
} sk_shm_lane;

/* --- shm_process.c --- */
sk_process_id sk_process_self(void);
/* If the start time is not known, any process with this pid counts. */
bool sk_process_ended(const sk_process_id *p);

/* Slots that were ever claimed. */
static inline uint32_t sk_inbox_high(sk_inbox *b)
{
    uint32_t high = atomic_load_explicit(&b->high, memory_order_relaxed);
    return high < SK_INBOX_SLOTS ? high : SK_INBOX_SLOTS;
}

#endif
