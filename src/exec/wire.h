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
} sk_part; /* of `fold` and `join`: `at` of a slot is its offset, which is the same in all slots */

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

    /* Epochs (see sched.h); NULL: this wire has no shared memory, and schedules on it no epochs. With
     * `block` they wait; without, or where the wire cannot, SK_AGAIN says: ask again, nothing was
     * done. Epochs count from 0 in every run. */
    sk_status (*open)(sk_wire *w, uint32_t epoch, bool block);
    void *(*slot)(sk_wire *w, uint32_t buf, int owner); /* where this slot lies; of an open or
                                                        * posted epoch. Owner -1: my own */
    void (*post)(sk_wire *w, uint32_t epoch);
    void (*export)(sk_wire *w, sk_part what, void *place);
    sk_status (*await)(sk_wire *w, uint32_t epoch, int lo, int hi,
                       bool block); /* local ranks lo .. hi-1
                                                                                * have posted;
                                                                                * hi -1: all */
    sk_status (*await_rank)(sk_wire *w, uint32_t epoch, int rank, bool block);
    sk_status (*fold)(sk_wire *w, uint32_t epoch, int lo, int hi, sk_part slot, sk_part to);
    sk_status (*join)(sk_wire *w, uint32_t epoch, sk_part slot, sk_part to, bool block);
    sk_status (*read)(sk_wire *w, int rank, const void *place, int64_t at, sk_part to);
    sk_status (*quiesce)(sk_wire *w, uint32_t epoch, bool block);
    void (*release)(sk_wire *w, uint32_t epochs); /* epochs below this one are over at this rank */
} sk_wire_ops;

/* What local ranks have beside that: their messages need not go the way of the others. */
typedef struct sk_intra_ops {
    sk_status (*send)(sk_wire *w, sk_part from, int peer);
    sk_status (*recv)(sk_wire *w, sk_part to, int peer);
    sk_status (*finish)(sk_wire *w); /* waits; NULL: that of sk_wire_ops ends these as well */
} sk_intra_ops;

struct sk_wire {
    const sk_wire_ops *ops;
    const sk_intra_ops *intra; /* of a wire with epochs */
};

#endif
