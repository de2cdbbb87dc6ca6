/* jobs.h: the runs of the measuring program. Skein and the host read which algorithm to use when
 * they start, so every combination is a job of its own. */
#ifndef SK_BENCH_JOBS_H
#define SK_BENCH_JOBS_H

#include "bench/options.h"
#include "coll/algo.h"

/* The name of an algorithm when the host chooses. */
#define SK_HOST_AUTO "auto"

typedef struct sk_job {
    sk_flavour mpi;
    sk_form form;
    int nranks;
    const char *graph; /* of neighbourhood collectives, else NULL */
    sk_coll colls[SK_NCOLLS];
    const sk_algo *algos[SK_NCOLLS]; /* forced for colls[i]; NULL: as Skein chooses */
    int ncolls;
    sk_numbers bytes;
    int host;              /* number of the host's algorithm, 0: as the host chooses */
    const char *host_name; /* SK_HOST_AUTO when host is 0 */
    struct sk_job *next;
} sk_job;

/* The jobs in the order in which to run them, for the flavours set in `mpi`. */
sk_job *sk_jobs_new(sk_arena *a, const sk_bench_options *o, const bool *mpi);

/* Whether this many ranks are measured; see --ranks. */
bool sk_jobs_take_ranks(const sk_bench_options *o, sk_flavour mpi, int nranks);

/* A job that measures one point of another one: of its collective k the size i. */
sk_job *sk_job_of_point(sk_arena *a, const sk_job *j, int k, int i);

/* The number of points that the job measures. */
int sk_job_points(const sk_job *j);

/* The command line of a job: `skein run LAUNCHER ... PROGRAM ...`, with --plain without `skein
 * run`. `budget`: seconds for each point. */
sk_strlist sk_job_command(sk_arena *a, const sk_bench_options *o, const sk_job *j,
                          const char *launcher, const char *program, double budget);

#endif
