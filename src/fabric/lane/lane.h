/* lane.h: a lane moves packets between endpoints. There are two: `shm` (memory shared by the
 * processes of a node) and `core` (another libfabric provider: tcp;ofi_rxm, or what the site has).
 * The endpoint picks one lane per peer and keeps it, so packets to a peer arrive in the order in
 * which they were sent. A lane does not know tags, matching, or what a packet means. It is not
 * thread-safe: the caller holds the domain's lock for every call. It never sleeps and never spins:
 * a call that cannot proceed returns -EAGAIN.
 *
 * An event handler may call connect, send, export, unexport and read. It must not call poll or
 * close. */
#ifndef SK_LANE_H
#define SK_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

typedef struct sk_lane sk_lane;

/* Events that a lane reports. They come from poll only, never from another call. */
typedef struct sk_lane_events {
    void *self;
    /* A packet of `len` bytes has arrived. It is valid during the call and aligned to 8 bytes.
     * `from` is the id in the sender's name, as the lane vouches for it; the endpoint need not be
     * connected to the sender. The sender may still be able to write the bytes: copy before you
     * check. */
    void (*packet)(void *self, uint64_t from, const void *data, size_t len);
    /* A read has completed: status is 0 or a negative errno. */
    void (*read)(void *self, void *context, int status);
    /* The endpoint with this id is gone: it was closed or its process ended (-EPIPE), it sent
     * garbage (-EPROTO), or the network gave up on it (another errno). The lane reports each id
     * once, after the last packet from it. The shm lane also reports senders that we never
     * connected to. */
    void (*gone)(void *self, uint64_t id, int status);
    /* May be NULL. This packet will probably arrive soon: a hint to prefetch. The bytes are not
     * checked, and the packet need not arrive. */
    void (*prefetch)(void *self, uint64_t from, const void *data, size_t len);
} sk_lane_events;

typedef struct sk_lane_config {
    uint64_t id; /* of this endpoint: random, part of its name */
    sk_lane_events events;
    const char *core_provider; /* core: name of the provider; "" or NULL: the lane picks one */
    size_t max_packet; /* longest packet the endpoint would like to send; the lane may allow less
                          or more */
    bool cma;          /* shm: the lane may read the memory of other processes */
} sk_lane_config;

/* Exported memory that peers may read. The endpoint carries it in its packets and does not
 * interpret it; the length travels in the packet's len. */
typedef struct sk_lane_source {
    uint64_t at;  /* address or offset */
    uint64_t key; /* core: key of the memory region */
    uint64_t len;
} sk_lane_source;

/* All functions return 0 or a negative errno unless stated otherwise. */
typedef struct sk_lane_ops {
    const char *name;
    /* -ENODATA (core): there is no such provider, or no suitable one. */
    int (*open)(sk_lane **out, const sk_lane_config *config);
    /* Packets already sent still arrive if that takes less than a second. No more events. */
    void (*close)(sk_lane *l);
    /* This endpoint's name on this lane: at most *len bytes; *len becomes its length. -ENOSPC: the
     * name is longer. */
    int (*get_name)(sk_lane *l, void *name, size_t *len);
    /* Make a peer known by its name. *peer is a small index from 0; the same peer gets the same
     * index again. -ENETUNREACH: this lane does not lead there (another node or provider, or the
     * peer's inbox is full). -EINVAL: not a name. */
    int (*connect)(sk_lane *l, uint64_t id, const void *name, size_t len, uint32_t *peer);
    /* Send a packet gathered from parts, together at most l->max_packet bytes; the lane copies it.
     * -EAGAIN: no space now, poll and try again. -EMSGSIZE: too long. -EPIPE: the peer is lost
     * (poll also reports `gone`). */
    int (*send)(sk_lane *l, uint32_t peer, const struct iovec *part, int nparts);
    /* Make progress and report events. Returns the number of events. */
    int (*poll)(sk_lane *l);
    /* Single copy, if l->can_read: make a buffer readable by peers, and end that. The handle may
     * be NULL. */
    int (*export)(sk_lane *l, const void *data, size_t len, sk_lane_source *out, void **handle);
    void (*unexport)(sk_lane *l, void *handle);
    /* Read a peer's exported data into `to`. 1: done; 0: an event will report completion; or a
     * negative errno. -EAGAIN: poll and try again; -EPERM: this peer cannot be read, ask it to send
     * packets; -EPIPE: the peer is lost; -EINVAL: not within the export. The peer must be connected
     * on this lane. */
    int (*read)(sk_lane *l, uint32_t peer, const sk_lane_source *from, uint64_t skip, void *to,
                size_t len, void *context);
} sk_lane_ops;

/* Every lane object starts with this. */
struct sk_lane {
    const sk_lane_ops *ops;
    size_t max_packet; /* longest packet */
    bool can_read;     /* export, unexport and read work */
};

extern const sk_lane_ops sk_lane_shm, sk_lane_core;

/* --- helpers for lanes --- */

static inline size_t sk_parts_len(const struct iovec *part, int nparts)
{
    size_t len = 0;
    for (int i = 0; i < nparts; i++)
        len += part[i].iov_len;
    return len;
}

static inline void sk_parts_copy(unsigned char *to, const struct iovec *part, int nparts)
{
    for (int i = 0; i < nparts; i++)
        if (part[i].iov_len) {
            memcpy(to, part[i].iov_base, part[i].iov_len);
            to += part[i].iov_len;
        }
}

/* Grow an array so that it can hold one item more than `count`. Returns the array, possibly moved,
 * or NULL if there is no memory; the old array then stays valid. */
static inline void *sk_items_grow(void *items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    uint32_t more = *capacity ? 2 * *capacity : 16;
    void *moved = realloc(items, more * size);
    if (moved)
        *capacity = more;
    return moved;
}

#endif
