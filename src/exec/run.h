/* run.h: one execution of a schedule. An error does not stop a run: the remaining steps still move
 * their messages, so that other ranks do not hang, and the first error is reported at the end. */
#ifndef SK_RUN_H
#define SK_RUN_H

#include "base/attr.h"
#include "exec/wire.h"
#include "sched/sched.h"

typedef struct sk_run {
    const struct sk_sched_view *sched;
    sk_wire *wire;
    void *buf[SK_NBUFS];
    int64_t *packet_used; /* bytes of each packet; NULL: the schedule has no packets */
    int64_t *packet_got;  /* bytes that are being received, later the offset of the last search */
    uint32_t round;
    uint32_t step; /* of the heads, or of the waiting steps, of a round with epochs; of a straight
                    * schedule */
    uint32_t released; /* epochs below this one are released */
    bool posted;       /* the transfers of the round are started */
    bool intra;        /* some of them go through shared memory */
    bool blind;        /* the wire must not look for messages: sk_run_post */
    sk_status status;  /* the first error */
} sk_run;

/* Bytes of memory that the caller gives a run for its packets, beside the scratch. */
static inline int64_t sk_run_packet_bytes(const sk_sched *s)
{
    return 2 * (int64_t)sizeof(int64_t) * sk_sched_view(s)->npackets;
}

/* `scratch` has sk_sched_view(s)->scratch bytes aligned to 64, `packets` sk_run_packet_bytes(s). */
SK_HOT void sk_run_init(sk_run *r, const sk_sched *s, sk_wire *w, void *send, void *recv,
                        void *scratch, void *packets);

/* Go on as far as possible without waiting: SK_AGAIN, or the result of the run. */
sk_status sk_run_poll(sk_run *r);

/* The first call, instead of sk_run_poll: starts the first messages, but does not look for any. */
sk_status sk_run_post(sk_run *r);

/* Go on to the end. */
SK_HOT sk_status sk_run_wait(sk_run *r);

#endif
