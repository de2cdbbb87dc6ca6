/* lane_shm.h: the inside of the lane through shared memory.
 *
 * Every endpoint owns an inbox, a segment of its own (board/segment.h). Whoever wants to send
 * claims a seat in it, once, and then has a ring of its own there (lane_shm_ring.h). Seats are many
 * but cost memory only when used. How the owner learns of news without looking at every seat:
 *   - it watches the few seats that were busy of late: it looks straight into their rings;
 *   - for the others there is a bit per seat, set by the sender after it has put a packet there.
 * A sender that finds itself watched does not touch the bits.
 *
 * No lock exists, so a process may be killed at any moment without stopping another. What is left
 * of it is found by looking, now and then, whether the processes behind seats and inboxes still
 * live. */
#ifndef SK_LANE_SHM_H
#define SK_LANE_SHM_H

#include "fabric/lane.h"
#include "fabric/lane_shm_ring.h"
#include "shm/segment.h"

enum { SK_SEATS = 1024, SK_SEAT_WORDS = SK_SEATS / 64, SK_WATCHED = 8, SK_PAGE = 4096 };

/* What a seat's state says, in its low half; the high half is the sender's process. */
enum { SK_SEAT_FREE, SK_SEAT_CLAIMED, SK_SEAT_READY, SK_SEAT_LEFT };
/* What the owner says to the sender. */
enum { SK_MOOD_BITS, SK_MOOD_WATCHED, SK_MOOD_CLOSED };

typedef struct sk_shm_lane_seat {
    _Alignas(SK_RING_LINE) _Atomic uint64_t state; /* the sender's line */
    uint64_t id, start; /* when its process started: tells it from others */
    _Alignas(SK_RING_LINE) _Atomic uint64_t done; /* the owner's line */
    _Atomic uint32_t mood;
} sk_shm_lane_seat;

typedef struct sk_inbox {
    unsigned char segment[SK_SEGMENT_HEAD];
    _Alignas(SK_RING_LINE) uint64_t layout; /* SK_INBOX_LAYOUT */
    uint64_t start;                         /* of the owner's process */
    uint64_t probe;                         /* where in the owner's memory its id stands */
    _Atomic uint32_t high;                  /* seats from here on were never claimed */
    _Atomic uint32_t closed;
    _Alignas(SK_RING_LINE) _Atomic uint64_t news[SK_SEAT_WORDS];
    sk_shm_lane_seat seats[SK_SEATS];
    _Alignas(SK_PAGE) unsigned char rings[SK_SEATS][SK_RING_BYTES];
} sk_inbox;

#define SK_INBOX_LAYOUT 0x736b31004d6f7865U

/* Where a process can be found again, or be known to have ended. */
typedef struct sk_process {
    int32_t pid;
    uint64_t start;
} sk_process;

/* A peer we send to. */
typedef struct sk_shm_lane_mate {
    sk_ring_writer ring;
    sk_shm_lane_seat *seat;
    _Atomic uint64_t *news; /* the word with our bit */
    uint64_t bit;
    sk_inbox *inbox; /* NULL: lost */
    uint64_t id;
    sk_process process;
    bool told; /* the endpoint knows that it is gone */
    enum { SK_READ_UNTRIED, SK_READ_YES, SK_READ_NO } readable;
} sk_shm_lane_mate;

/* Who sends to us in a seat. */
typedef struct sk_shm_lane_sender {
    sk_ring_reader ring;
    uint64_t id;
    sk_process process;
    bool known, broken; /* broken: sent garbage, no longer listened to */
    bool watched;
} sk_shm_lane_sender;

typedef struct sk_shm_lane {
    sk_lane lane;
    sk_lane_config config;
    sk_process self;
    sk_segment_note note;
    sk_inbox *inbox;
    sk_shm_lane_sender *senders;  /* by seat */
    uint64_t left[SK_SEAT_WORDS]; /* seats to look at again */
    struct {
        uint32_t seat;
        uint64_t used; /* tick of its last packet */
    } watched[SK_WATCHED];
    uint32_t nwatched;
    uint64_t tick;
    sk_shm_lane_mate *mates;
    uint32_t nmates, room;
    bool closed;        /* a send found its peer's inbox closed */
    uint32_t checked;   /* next to be looked at, mates first, then seats */
    int64_t checked_at; /* ms */
} sk_shm_lane;

static inline uint32_t sk_inbox_high(sk_inbox *b)
{
    uint32_t high = atomic_load_explicit(&b->high, memory_order_relaxed);
    return high < SK_SEATS ? high : SK_SEATS;
}

/* Deliver what is in a seat, up to a limit (the rest later), or all of it. Number of events. */
int sk_shm_lane_drain(sk_shm_lane *s, uint32_t seat, bool all);
int sk_shm_lane_poll(sk_lane *l);
/* Rely on the bits of the seat again. */
void sk_shm_lane_unwatch(sk_shm_lane *s, uint32_t seat);

/* Tell that an endpoint is gone, if that is news, and send it no more. Number of events. */
int sk_shm_lane_tell(sk_shm_lane *s, uint64_t id, int status);
/* The sender of a seat has left it, or is dead: take what it has sent, tell, make the seat free. */
int sk_shm_lane_bury(sk_shm_lane *s, uint32_t seat);
/* Look which peers have closed their inbox, as a send has found one. */
int sk_shm_lane_closed(sk_shm_lane *s);
/* Look whether some processes still live, if it is time. */
int sk_shm_lane_check(sk_shm_lane *s);

sk_process sk_process_self(void);
/* `start` 0: not known, a process of that number will do. */
bool sk_process_ended(const sk_process *p);

int sk_shm_lane_reach(sk_lane *l, uint64_t id, const void *name, size_t len, uint32_t *peer);
/* Send no more to a mate: tell it, and forget its inbox. */
void sk_shm_lane_leave(sk_shm_lane_mate *m);
int sk_shm_lane_send(sk_lane *l, uint32_t peer, const struct iovec *part, int nparts);

int sk_shm_lane_expose(sk_lane *l, const void *data, size_t len, sk_lane_source *out,
                       void **handle);
void sk_shm_lane_conceal(sk_lane *l, void *handle);
int sk_shm_lane_read(sk_lane *l, uint32_t peer, const sk_lane_source *from, uint64_t skip, void *to,
                     size_t len, void *context);

#endif
