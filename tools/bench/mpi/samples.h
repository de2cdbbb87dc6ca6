/* samples.h: what is timed in a round: samples of Skein and of the host MPI alternately. */
#ifndef SK_BENCH_SAMPLES_H
#define SK_BENCH_SAMPLES_H

#include "bench/mpi/clock.h"
#include "bench/mpi/forms.h"
#include "bench/mpi/work.h"

enum { SK_SKEIN, SK_HOST, SK_SIDES };
enum { SK_MAX_SINGLES = 25, SK_MAX_SAMPLES = 25 };

enum { SK_MAX_COLD = 12 }; /* fewer than a node has memory for */

typedef struct sk_comm_list {
    MPI_Comm comm[SK_SIDES][SK_MAX_COLD];
    int n[SK_SIDES];
} sk_comm_list;

typedef struct sk_sampler {
    sk_conditions conditions;
    double gap_us; /* computation before each call, or during it */
    sk_comm_list
        *used; /* cold: the communicators of all samples, so that none gets what another left */
    MPI_Comm *
        single; /* for each side the communicator of single calls, NULL: that of the others. What Skein
                       * finds out about calls in trains need not hold for calls that come one by one. */
    const sk_clock *clock;
    const sk_start *start;
    const sk_work *work;
} sk_sampler;

/* How many there are in a round, of each side. */
typedef struct sk_round_plan {
    int singles;        /* calls from a common start; warm only */
    int samples, train; /* samples, calls in each */
} sk_round_plan;

/* The medians of a round, in us, and the share of overlap; at rank 0. */
typedef struct sk_bench_round {
    double us[SK_TIMES][SK_SIDES], overlap[SK_SIDES];
} sk_bench_round;

/* Everything here is collective over MPI_COMM_WORLD. `number` of the round: another order in each. */
void sk_sample_round(sk_case *c, const sk_sampler *s, sk_round_plan plan, int number,
                     sk_bench_round *out);

/* The single calls alone. */
void sk_sample_singles(sk_case *c, const sk_sampler *s, int n, int number, double us[SK_SIDES]);

/* Frees the communicators of all samples. */
void sk_sample_free(sk_comm_list *used);

/* The makespan of a call that does nothing. */
double sk_sample_empty(const sk_sampler *s);

/* us of one call in a train that has nothing in between. */
double sk_sample_train(sk_case *c, const sk_sampler *s, bool host, int n);

#endif
