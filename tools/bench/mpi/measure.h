/* measure.h: times one call, Skein and the host MPI alternately. */
#ifndef SK_BENCH_MEASURE_H
#define SK_BENCH_MEASURE_H

#include "bench/mpi/calls.h"
#include "bench/mpi/clock.h"
#include "bench/point.h"

typedef struct sk_measurement {
    int warmup;      /* calls of each kind before the first round, fewer when they are slow */
    int least;       /* but at least these: Skein plans a neighbourhood after some calls */
    int rounds;      /* wanted; fewer, but at least 3, when the calls are too slow for the budget */
    double budget;   /* seconds for this point */
    double empty_us; /* sk_measure_empty */
    const sk_clock *clock;
    const sk_start *start;
} sk_measurement;

/* The makespan of a call that does nothing, in us, at rank 0: the time until all ranks have had a
 * core. No library can be faster than that. Collective over MPI_COMM_WORLD. */
double sk_measure_empty(const sk_measurement *m);

/* Collective over MPI_COMM_WORLD. *out is complete at rank 0; `equal` is valid at all ranks. False,
 * at all ranks: out of memory. */
bool sk_measure_point(const sk_case *c, const sk_measurement *m, sk_point *out);

#endif
