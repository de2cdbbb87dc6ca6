/* negotiate.h: runs all negotiators of a communicator in one process, without MPI. */
#ifndef SK_LAB_NEGOTIATE_H
#define SK_LAB_NEGOTIATE_H

#include "neighbor/negotiation.h"

typedef struct sk_channel_count {
    int64_t messages, words;
} sk_channel_count;

/* Runs them to the end. SK_DEADLOCK when they wait for each other. `seed` decides which of the messages
 * under way arrives next, as on a real network (0: in order); the messages of a pair keep their order.
 * `count` may be NULL. */
sk_status sk_negotiate_inproc(sk_negotiator **negotiators, int n, unsigned seed,
                              sk_channel_count *count);

#endif
