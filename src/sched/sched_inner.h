/* sched_inner.h: a schedule while it is built, for the files of this folder only. */
#ifndef SK_SCHED_INNER_H
#define SK_SCHED_INNER_H

#include <stdlib.h>

#include "sched/sched.h"

enum { SK_MAX_PACKETS = (1 << 24) - 1 }; /* or epochs: sk_step.packet has 24 bits */

struct sk_sched {
    struct sk_sched_view v; /* points to the arrays below */
    sk_step *steps;
    uint32_t *round_of; /* while building: the round of each step */
    sk_round *rounds;   /* frozen: behind the sorted steps and the epochs */
    sk_packet_info *packets;
    sk_epoch_info *epochs;
    uint32_t cap, packet_cap, epoch_cap;
    uint32_t round; /* while building: current round */
    bool round_used;
    sk_sched_buffer *
        buffer; /* while building: steps, round_of and epochs are in it as long as they fit; NULL: none */
    sk_status status; /* first failed append */
    sk_type types[];
};

/* Append a step to the current round. */
void sk_sched_append(sk_sched *s, const sk_step *st);

static inline bool sk_sched_in_buffer(const sk_sched *s, const void *array)
{
    const sk_sched_buffer *r = s->buffer;
    return r && (array == r->steps || array == r->round_of || array == r->epochs);
}

static inline void sk_sched_drop(const sk_sched *s, void *array)
{
    if (!sk_sched_in_buffer(s, array))
        free(array);
}

/* Make an array large enough for one more element; false, and the schedule is marked, when out of
 * memory. The caller sets its capacity to sk_sched_grown when all arrays of that size have grown. */
bool sk_sched_grow(sk_sched *s, void **array, size_t size, uint32_t n, uint32_t cap);

static inline uint32_t sk_sched_grown(uint32_t n, uint32_t cap)
{
    return n < cap ? cap : cap ? 2 * cap : SK_SCHED_BUFFER;
}

#endif
