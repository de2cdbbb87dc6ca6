/* measure.h: times one call, Skein and the host MPI alternately. */
#ifndef SK_BENCH_MEASURE_H
#define SK_BENCH_MEASURE_H

#include "bench/mpi/samples.h"
#include "bench/point.h"

typedef struct sk_measurement {
    sk_sampler sampler;
    int warmup;      /* calls of each kind before the first round, fewer when they are slow */
    int least;       /* but at least these: Skein plans a neighbourhood after some calls */
    int rounds;      /* wanted; fewer, but at least 3, when the calls are too slow for the budget */
    double budget;   /* seconds for this point */
    double empty_us; /* sk_sample_empty: the time until all ranks have had a core; no library
                      * can be faster than that */
} sk_measurement;

/* Collective over MPI_COMM_WORLD. *out is complete at rank 0; `equal` is valid at all ranks. The case
 * is bound, unless the phase makes fresh communicators. False, at all ranks: out of memory. */
bool sk_measure_point(sk_case *c, const sk_measurement *m, sk_point *out);

#endif
