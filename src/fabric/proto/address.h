/* address.h: the name of an endpoint, always 64 bytes, as peers exchange it: its id, its node, and
 * its name on each lane. Names come from outside: sk_address_read checks them. The bytes of a
 * lane's name belong to the lane. The core provider's network address is the longest part and gets
 * all bytes that are left. */
#ifndef SK_ADDRESS_H
#define SK_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { SK_ADDRESS_BYTES = 64, SK_ADDRESS_NAMES = 42 };

typedef struct sk_address {
    uint32_t magic;                  /* and version; also reveals the byte order */
    uint8_t shm_len, core_len;       /* of the lanes' names; 0: this lane does not lead there */
    uint8_t names[SK_ADDRESS_NAMES]; /* shm lane, then core lane, then zeros */
    uint64_t id;                     /* random, not 0 */
    uint64_t node;                   /* equal for processes that can share memory */
} sk_address;

_Static_assert(sizeof(sk_address) == SK_ADDRESS_BYTES, "Open MPI has room for 64 bytes");

/* A random id; 0: the system has no random numbers. */
uint64_t sk_address_id(void);

/* The node of this process: a hash of the boot id and of all that decides which processes may open
 * each other's memory (pid, user and IPC namespaces, user and group). A process that sees the wrong
 * /proc is a node of its own. */
uint64_t sk_address_node(void);

/* Build a name from the results of sk_lane_ops.get_name; an absent lane has length 0.
 * SK_TOOBIG: the names together are longer than SK_ADDRESS_NAMES. SK_BADARG: id is 0. */
sk_status sk_address_make(sk_address *out, uint64_t id, uint64_t node, const void *shm,
                          size_t shm_len, const void *core, size_t core_len);

/* Check `len` bytes from outside. SK_BADARG: not a name, or not usable; *why (`why` may be NULL)
 * then says what is wrong: the other byte order, another version, damaged. */
sk_status sk_address_read(const void *bytes, size_t len, sk_address *out, const char **why);

/* The name on a lane; NULL: the length is 0. */
static inline const void *sk_address_shm(const sk_address *a)
{
    return a->shm_len ? a->names : NULL;
}

static inline const void *sk_address_core(const sk_address *a)
{
    return a->core_len ? a->names + a->shm_len : NULL;
}

/* Both are on one node and have the shm lane: try it first. */
static inline bool sk_address_same_node(const sk_address *a, const sk_address *b)
{
    return a->node == b->node && a->shm_len && b->shm_len;
}

#endif
