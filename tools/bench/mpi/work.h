/* work.h: computation of a given length: a loop of so many steps, not so much time, because a rank
 * that has no core does not compute. */
#ifndef SK_BENCH_WORK_H
#define SK_BENCH_WORK_H

#include "bench/mpi/clock.h"

typedef struct sk_work {
    double steps; /* in 1 us on a core of its own */
} sk_work;

/* Collective over MPI_COMM_WORLD: all ranks compute alike. */
sk_work sk_work_new(const sk_clock *c);

void sk_work_do(const sk_work *w, double us);

#endif
