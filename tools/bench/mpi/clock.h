/* clock.h: one time line for all ranks, and a common start of all ranks.
 *
 * Ranks leave a barrier one after the other. Where they share cores, the last leaves long after the
 * first, and that would be measured with every call. So after a barrier all ranks wait for a moment
 * that rank 0 announces. On one machine they meet in memory of their own: a barrier of the host would leave the
 * host's code and data in the caches, and a call of Skein after it would be compared with one that finds them there. */
#ifndef SK_BENCH_CLOCK_H
#define SK_BENCH_CLOCK_H

#include <mpi.h>
#include <stdbool.h>
#include <time.h>

typedef struct sk_clock {
    double offset; /* added to the local clock gives rank 0's */
} sk_clock;

/* Collective over MPI_COMM_WORLD. Ranks on one machine share a clock; others estimate their
 * offset. */
sk_clock sk_clock_new(void);

static inline double sk_clock_now(const sk_clock *c)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + c->offset;
}

typedef struct sk_start {
    double lead;         /* seconds in which all ranks learn of the moment */
    bool oversubscribed; /* ranks share cores: they yield while they wait */
    int rank, ranks;
    struct sk_meeting *meeting; /* NULL: several machines */
    MPI_Win window;             /* of the meeting */
} sk_start;

/* Collective over MPI_COMM_WORLD, as is the next one. */
sk_start sk_start_new(const sk_clock *c);
void sk_start_free(sk_start *s);

/* Waits for the moment, *moment. False: this rank was too late for it. */
bool sk_start_together(const sk_clock *c, const sk_start *s, double *moment);

/* After the call: sleeps as long as the lead was, so that ranks which share the core can finish. */
void sk_start_rest(const sk_clock *c, const sk_start *s, double moment);

#endif
