/* wire.h: how steps move bytes. A wire serves one run at a time; it knows the types and the
 * operation behind the small indices that schedules carry. */
#ifndef SK_WIRE_H
#define SK_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* A span with its address: `len` data bytes laid out as `type` says. */
typedef struct sk_part {
    void *at;
    int64_t len;
    uint32_t type;
} sk_part;

typedef struct sk_wire sk_wire;

typedef struct sk_wire_ops {
    /* Start a transfer; it ends when `finish` says so. Between a pair of ranks messages keep their
     * order. `got`, when not NULL, is set to the bytes received: a shorter message is then fine. */
    sk_status (*send)(sk_wire *w, sk_part from, int peer);
    sk_status (*recv)(sk_wire *w, sk_part to, int peer, int64_t *got);

    /* All transfers started are over: SK_OK, or their first error. Not yet: SK_AGAIN, never when
     * `block` is set, unless the wire cannot block. */
    sk_status (*finish)(sk_wire *w, bool block);

    sk_status (*copy)(sk_wire *w, sk_part from, sk_part to);
    sk_status (*reduce)(sk_wire *w, sk_part in, sk_part inout); /* inout = in op inout */

    /* Optional: one send, one receive (or one of them, the other's peer < 0), start to end. */
    sk_status (*exchange)(sk_wire *w, sk_part from, int to_peer, sk_part to, int from_peer);
} sk_wire_ops;

struct sk_wire {
    const sk_wire_ops *ops;
};

#endif
