/* profile.h: what a schedule does, as far as its price depends on it: work of the core in ns, messages, and
 * waits for local ranks. A rank has a profile; the walker (walk.h) brings those of all ranks together. */
#ifndef SK_PROFILE_H
#define SK_PROFILE_H

#include "price/prices.h"
#include "sched/sched.h"

typedef enum sk_act_kind {
    SK_ACT_WORK,    /* the core is busy for `ns` */
    SK_ACT_RELEASE, /* the rank is done with the epochs below `epoch` */
    SK_ACT_POST,    /* the local ranks may read the slot of `epoch` */
    SK_ACT_RECV,    /* a receive from `peer` starts */
    SK_ACT_SEND,    /* a message to `peer` starts */
    SK_ACT_AWAIT,   /* until local ranks lo <= i < hi have posted `epoch` */
    SK_ACT_QUIESCE, /* until all local ranks have released `epoch` */
    SK_ACT_FINISH,  /* until all messages of the round are over; ends every round that has some */
} sk_act_kind;

typedef struct sk_act {
    uint8_t kind;  /* sk_act_kind */
    uint8_t level; /* sk_at, between the rank and the peer */
    bool fifo;     /* a message through shared memory: sk_send_intra */
    bool fresh;    /* SEND: of bytes that the rank has written in this call */
    uint32_t epoch;
    int32_t peer;   /* a rank; AWAIT: the one that is waited for, -1: several; FINISH: messages */
    int32_t lo, hi; /* local ranks */
    int64_t len;    /* bytes of the message */
    double bytes;   /* WORK, RECV: copied by the core through the memory of the node */
    double far; /* the same as far as the user's buffers are read or written: half a byte each */
    double
        ns; /* of the core; AWAIT, QUIESCE: to look at all flags; RECV: beside the message's own */
    double flag; /* AWAIT, QUIESCE: ns from the last flag's store until it is seen */
} sk_act;

/* What it costs to walk it: looking at many flags is much less work than as many messages. */
static inline int64_t sk_act_looks(const sk_act *act)
{
    return 1 + (act->hi - act->lo) / 16;
}

typedef struct sk_profile {
    sk_act *acts;
    uint32_t *rounds; /* nrounds + 1: the first act of each */
    uint32_t nacts, nrounds, nepochs;
    int64_t looks;    /* of all acts */
    int64_t steps;    /* of the schedule */
    bool sizes_known; /* false: some messages carry their lengths with them */
} sk_profile;

/* The profile of `rank`. *out is set on success only. */
sk_status sk_profile_new(const sk_sched *s, int rank, const sk_machine *machine, const sk_prices *p,
                         sk_profile *out);
void sk_profile_free(sk_profile *t);

#endif
