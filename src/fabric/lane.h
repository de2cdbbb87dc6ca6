/* lane.h: a way to move packets between endpoints. Two lanes stand side by side: `shm`, memory
 * shared by the processes of a node, and `inner`, another libfabric provider (tcp;ofi_rxm, or what
 * the site has). The endpoint picks one per peer and keeps it, so packets to a peer arrive in the
 * order they were sent. A lane knows nothing of tags, matching, or what packets mean. It is not
 * thread-safe: the endpoint's lock is held for every call. It never sleeps and never spins: what
 * cannot be done now is left.
 *
 * Calls from within an event: reach, send, expose, conceal and read are allowed; poll and close are
 * not. */
#ifndef SK_LANE_H
#define SK_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

typedef struct sk_lane sk_lane;

/* What a lane tells the endpoint, from within poll (never from within another call). */
typedef struct sk_lane_events {
    void *self;
    /* A packet of `len` bytes came; it is only there during the call, 8-byte aligned. `from` is the
     * id the sender has put into its name, as the lane vouches for it; it need not have been
     * reached. The bytes may lie in memory the sender can still write: copy what must be checked
     * before checking it. */
    void (*packet)(void *self, uint64_t from, const void *data, size_t len);
    /* A read has ended: 0 or a negative errno. */
    void (*read)(void *self, void *context, int status);
    /* The endpoint with this id is gone: it was closed, its process ended (-EPIPE), it sent garbage
     * (-EPROTO), or the network gave up on it (other). Called once for each id, after the last
     * packet that came from it; shm also tells of senders that were never reached. */
    void (*gone)(void *self, uint64_t id, int status);
    /* May be NULL: such a packet comes soon. It is not checked in any way, nor need it come. */
    void (*glance)(void *self, uint64_t from, const void *data, size_t len);
} sk_lane_events;

typedef struct sk_lane_config {
    uint64_t id; /* of this endpoint: random, in its name */
    sk_lane_events events;
    const char *inner; /* inner: name of the provider to use; "" or NULL picks one */
    size_t packet;     /* longest packet the endpoint would like to send; the lane may allow less or
                          more */
    bool direct;       /* shm: may read the memory of other processes */
} sk_lane_config;

/* Where data lies that peers may read: opaque to the endpoint, carried in its packets (len: in the
 * packet's len). */
typedef struct sk_lane_source {
    uint64_t at;  /* address or offset */
    uint64_t key; /* inner: key of the memory region */
    uint64_t len;
} sk_lane_source;

typedef struct sk_lane_ops {
    const char *name;
    /* 0 or a negative errno, as all here. -ENODATA: inner: there is no such provider, or none that
     * will do. */
    int (*open)(sk_lane **out, const sk_lane_config *config);
    /* Packets that were sent still arrive, as far as that takes less than a second. No more events.
     */
    void (*close)(sk_lane *l);
    /* This endpoint's name on this lane, at most *len bytes; *len becomes its length. -ENOSPC: it
     * is longer. */
    int (*name_of)(sk_lane *l, void *name, size_t *len);
    /* Get to know a peer by its name. *peer is a small number from 0, the same if it is known
     * already. -ENETUNREACH: not by this lane: another node or provider, no room at the peer.
     * -EINVAL: not a name. */
    int (*reach)(sk_lane *l, uint64_t id, const void *name, size_t len, uint32_t *peer);
    /* Send a packet of parts, together at most l->packet bytes; it is copied.
     * -EAGAIN: no room now, poll and try again. -EMSGSIZE: too long. -EPIPE: the peer is lost (poll
     * tells `gone` too). */
    int (*send)(sk_lane *l, uint32_t peer, const struct iovec *part, int nparts);
    /* Do what is to be done, report events. Number of events. */
    int (*poll)(sk_lane *l);
    /* Single copy, where l->reads: make a buffer readable by peers / no longer. The handle may be
     * NULL. */
    int (*expose)(sk_lane *l, const void *data, size_t len, sk_lane_source *out, void **handle);
    void (*conceal)(sk_lane *l, void *handle);
    /* Read from a peer's exposed data into `to`: 1: done, 0: an event will tell, or a negative
     * errno
     * (-EAGAIN: poll and try again; -EPERM: this peer cannot be read, send packets instead; -EPIPE:
     * it is lost; -EINVAL: not within what is exposed). The peer must have been reached on this
     * lane. */
    int (*read)(sk_lane *l, uint32_t peer, const sk_lane_source *from, uint64_t skip, void *to,
                size_t len, void *context);
} sk_lane_ops;

/* Lanes begin with this. */
struct sk_lane {
    const sk_lane_ops *ops;
    size_t packet; /* longest packet */
    bool reads;    /* expose, conceal and read work */
};

extern const sk_lane_ops sk_lane_shm, sk_lane_inner;

#endif
