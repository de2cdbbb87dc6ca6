/* build.h: a schedule while it is built, for the files of this folder only. */
#ifndef SK_BUILD_H
#define SK_BUILD_H

#include "sched/sched.h"

enum { SK_MAX_ROOMS = (1 << 24) - 1 }; /* packets, or epochs: their number stands in 24 bits */

struct sk_sched {
    struct sk_sched_view v; /* its pointers are this schedule's own memory */
    sk_step *steps;
    uint32_t *round_of; /* while building: the round of each step */
    sk_round *rounds;
    sk_type *types;
    sk_packet_info *packets;
    sk_epoch_info *epochs;
    uint32_t cap, packet_cap, epoch_cap;
    uint32_t round; /* while building: current round */
    bool round_used;
    sk_status status; /* first failed append */
};

/* One more step in the current round. */
void sk_sched_append(sk_sched *s, const sk_step *st);

/* Room for one more in an array that doubles; false marks the schedule. *cap is the caller's to
 * double, with sk_sched_grown, once all arrays of that size have grown. */
bool sk_sched_grow(sk_sched *s, void **array, size_t size, uint32_t n, uint32_t cap);

static inline uint32_t sk_sched_grown(uint32_t n, uint32_t cap)
{
    return n < cap ? cap : cap ? 2 * cap : 16;
}

/* Is this slot's span inside its epoch's room? */
bool sk_sched_slot_ok(const sk_sched *s, const sk_span *sp);

/* Are the rules of epochs kept, as far as one rank can see? If so, the `passed` of all rounds, and
 * for each epoch the round in which it is to be opened, UINT32_MAX for none. */
sk_status sk_sched_epochs(const sk_sched *s, sk_round *rounds, uint32_t nrounds, uint32_t *open_in);

/* After this step local ranks are known to be done with epochs below this one: quiesced, or seen in a later
 * epoch. */
static inline uint32_t sk_step_quiesces(const sk_step *st)
{
    switch (st->kind) {
    case SK_STEP_QUIESCE:
        return st->packet + 1;
    case SK_STEP_AWAIT:
    case SK_STEP_JOIN:
        return st->packet;
    case SK_STEP_TAKE:
        return st->peer < 0 ? st->packet : 0; /* a common slot is taken when all have posted */
    default:
        return 0;
    }
}

#endif
