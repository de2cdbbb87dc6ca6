/* clock.h: one time line for all ranks. */
#ifndef SK_CLOCK_H
#define SK_CLOCK_H

#include <time.h>

typedef struct sk_clock {
    double offset; /* added to the local clock gives rank 0's */
} sk_clock;

/* Collective over MPI_COMM_WORLD. Ranks of one machine share a clock; others estimate their offset.
 */
sk_clock sk_clock_new(void);

static inline double sk_clock_now(const sk_clock *c)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + c->offset;
}

#endif
