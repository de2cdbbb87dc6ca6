/* sched_inner.h: a schedule while it is built, for the files of this folder only. */
#ifndef SK_SCHED_INNER_H
#define SK_SCHED_INNER_H

#include "sched/sched.h"

enum { SK_MAX_PACKETS = (1 << 24) - 1 }; /* or epochs: sk_step.packet has 24 bits */

struct sk_sched {
    struct sk_sched_view v; /* points to the arrays below */
    sk_step *steps;
    uint32_t *round_of; /* while building: the round of each step */
    sk_round *rounds;   /* behind the sorted steps */
    sk_packet_info *packets;
    sk_epoch_info *epochs;
    uint32_t cap, packet_cap, epoch_cap;
    uint32_t round; /* while building: current round */
    bool round_used;
    sk_status status; /* first failed append */
    sk_type types[];
};

/* A plan is made in a call, so these are small enough for malloc's fastest way. */
enum { SK_SCHED_FIRST = 8 };

/* Append a step to the current round. */
void sk_sched_append(sk_sched *s, const sk_step *st);

/* Make an array large enough for one more element; false, and the schedule is marked, when out of
 * memory. The caller sets its capacity to sk_sched_grown when all arrays of that size have grown. */
bool sk_sched_grow(sk_sched *s, void **array, size_t size, uint32_t n, uint32_t cap);

static inline uint32_t sk_sched_grown(uint32_t n, uint32_t cap)
{
    return n < cap ? cap : cap ? 2 * cap : SK_SCHED_FIRST;
}

#endif
