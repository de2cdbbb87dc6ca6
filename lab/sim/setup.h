/* setup.h: how long ranks take to agree on patterns, on a simulated cluster. All negotiators run in this process, in
 * the order of simulated time. Messages cost what they cost in calls; the work of a negotiator is measured as CPU
 * time of this machine. */
#ifndef SK_LAB_SIM_SETUP_H
#define SK_LAB_SIM_SETUP_H

#include "lab/sim/neighbor.h"

typedef struct sk_sim_agreed {
    double ns;        /* until the last rank has its pattern */
    double work;      /* ns of CPU of the busiest rank */
    int64_t messages; /* of all ranks */
    int64_t bytes;    /* of these */
    double memory;    /* most bytes allocated at once, by rank */
} sk_sim_agreed;

/* By the protocol of a method, or, `id` SK_NMETHODS, as the library does: the first rank of each node collects the
 * graph and plans the method `planned` for its node. */
sk_status sk_sim_setup(const sk_sim *s, sk_method_id id, sk_method_id planned,
                       const sk_pattern_opts *o, sk_sim_agreed *out);

#endif
