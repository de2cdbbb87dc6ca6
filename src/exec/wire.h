/* wire.h: how the steps of a schedule move bytes. A wire serves one run at a time. It knows the
 * datatypes and the reduction operation behind the small indices that schedules carry. */
#ifndef SK_WIRE_H
#define SK_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* A span with its address: `len` data bytes laid out as `type` says. For `fold` and `join`, `at` of
 * the slot is an offset, the same in all slots. */
typedef struct sk_part {
    void *at;
    int64_t len;
    uint32_t type;
} sk_part;

typedef struct sk_wire sk_wire;

typedef struct sk_wire_ops {
    /* Start a transfer; `finish` says when it is over. Messages between two ranks keep their order.
     * `got`, when not NULL, is set to the bytes received: then a shorter message is no error. */
    sk_status (*send)(sk_wire *w, sk_part from, int peer);
    sk_status (*recv)(sk_wire *w, sk_part to, int peer, int64_t *got);

    /* All transfers started are over: SK_OK, or their first error. Not yet: SK_AGAIN, which does not
     * happen when `block` is set and the wire can block. */
    sk_status (*finish)(sk_wire *w, bool block);

    sk_status (*copy)(sk_wire *w, sk_part from, sk_part to);
    sk_status (*reduce)(sk_wire *w, sk_part in, sk_part inout); /* inout = in op inout */

    /* Optional: one send and one receive from start to end, or one of them: the other's peer is
     * < 0. */
    sk_status (*exchange)(sk_wire *w, sk_part from, int to_peer, sk_part to, int from_peer);

    /* Epochs (see sched.h). NULL: the wire has no shared memory, and its schedules have no epochs.
     * With `block` these wait. SK_AGAIN: nothing was done, call again; this happens without `block`,
     * and on wires that cannot block. Epochs count from 0 in every run.
     *
     *   open        wait until the slots of the epoch may be written
     *   slot        the address of a slot of an open or posted epoch; owner -1: my own slot
     *   post        let the local ranks read my slot; opens it if nothing was written
     *   export      write to `handle`, SK_EXPORT_BYTES bytes in my slot, where `what` lies
     *   await       wait until local ranks lo .. hi-1 have posted; hi -1: all
     *   await_rank  wait until one rank has posted
     *   fold        to = slot of lo op ... op slot of hi-1
     *   join        the same over all local ranks, after all have posted
     *   read        copy from byte `at` of what a rank has exported
     *   quiesce     wait until all local ranks have released the epoch
     *   release     this rank is done with the epochs below this one */
    sk_status (*open)(sk_wire *w, uint32_t epoch, bool block);
    void *(*slot)(sk_wire *w, uint32_t buf, int owner);
    sk_status (*post)(sk_wire *w, uint32_t epoch, bool block);
    void (*export)(sk_wire *w, sk_part what, void *handle);
    sk_status (*await)(sk_wire *w, uint32_t epoch, int lo, int hi, bool block);
    sk_status (*await_rank)(sk_wire *w, uint32_t epoch, int rank, bool block);
    sk_status (*fold)(sk_wire *w, uint32_t epoch, int lo, int hi, sk_part slot, sk_part to);
    sk_status (*join)(sk_wire *w, uint32_t epoch, sk_part slot, sk_part to, bool block);
    sk_status (*read)(sk_wire *w, int rank, const void *handle, int64_t at, sk_part to);
    sk_status (*quiesce)(sk_wire *w, uint32_t epoch, bool block);
    void (*release)(sk_wire *w, uint32_t epochs);
} sk_wire_ops;

/* Messages between local ranks through shared memory, if a wire with epochs has a way for them. */
typedef struct sk_intra_ops {
    sk_status (*send)(sk_wire *w, sk_part from, int peer);
    sk_status (*recv)(sk_wire *w, sk_part to, int peer);
    sk_status (*finish)(sk_wire *w,
                        bool block); /* as above; NULL: `finish` of sk_wire_ops ends these */
} sk_intra_ops;

struct sk_wire {
    const sk_wire_ops *ops;
    const sk_intra_ops *intra; /* of a wire with epochs */
};

#endif
