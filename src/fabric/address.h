/* address.h: the name of an endpoint, always 64 bytes, as peers exchange it: who it is, where it
 * lives, how each lane reaches it. It comes from outside: reading checks it. The bytes that the
 * lanes use are their own affair; what they need most, room for an address of the site's network,
 * gets all that is left. */
#ifndef SK_ADDRESS_H
#define SK_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { SK_ADDRESS_BYTES = 64, SK_ADDRESS_NAMES = 42 };

typedef struct sk_address {
    uint32_t magic;             /* word and version; reads differently in the other byte order */
    uint8_t shm_len, inner_len; /* of the lanes' names; 0: not reachable by this lane */
    uint8_t names[SK_ADDRESS_NAMES]; /* shm's, then inner's, then zeros */
    uint64_t id;                     /* random, not 0: tells endpoints apart */
    uint64_t node;                   /* equal for processes that can share memory */
} sk_address;

_Static_assert(sizeof(sk_address) == SK_ADDRESS_BYTES, "Open MPI has room for 64 bytes");

/* A random id; 0: the system has no random numbers. */
uint64_t sk_address_id(void);

/* The node of this process: a hash of the boot and of all that decides who may open whose memory
 * (process, user and IPC namespaces, user and group). A process that sees the wrong /proc is a node
 * of its own. */
uint64_t sk_address_node(void);

/* What sk_lane_ops.name_of has given; an absent lane has length 0.
 * SK_TOOBIG: the names together are longer than SK_ADDRESS_NAMES. SK_BADARG: id is 0. */
sk_status sk_address_make(sk_address *out, uint64_t id, uint64_t node, const void *shm,
                          size_t shm_len, const void *inner, size_t inner_len);

/* Check `len` bytes from outside. SK_BADARG: not a name, or one we cannot use; *why (may be NULL)
 * then says what is wrong with it: the other byte order, another version, damaged. */
sk_status sk_address_read(const void *bytes, size_t len, sk_address *out, const char **why);

/* The name of a lane inside, NULL when the length is 0. */
static inline const void *sk_address_shm(const sk_address *a)
{
    return a->shm_len ? a->names : NULL;
}

static inline const void *sk_address_inner(const sk_address *a)
{
    return a->inner_len ? a->names + a->shm_len : NULL;
}

/* Both live on one node and have memory to share: try the shm lane first. */
static inline bool sk_address_mates(const sk_address *a, const sk_address *b)
{
    return a->node == b->node && a->shm_len && b->shm_len;
}

#endif
