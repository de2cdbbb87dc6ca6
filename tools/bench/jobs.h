/* jobs.h: what has to be started: each job is one run of the measuring program. Skein and the host
 * read which algorithm to use when they start, so every combination is a job of its own. */
#ifndef SK_BENCH_JOBS_H
#define SK_BENCH_JOBS_H

#include "bench/options.h"
#include "coll/algo.h"

/* In place of an algorithm's name: the host chooses. */
#define SK_HOST_AUTO "auto"

typedef struct sk_job {
    sk_flavour mpi;
    int nranks;
    const char *graph; /* of neighbourhood collectives, else NULL */
    sk_coll colls[SK_NCOLLS];
    const sk_algo *algos[SK_NCOLLS]; /* forced for colls[i]; NULL: as Skein chooses */
    int ncolls;
    int host;              /* number of the host's algorithm, 0: as the host chooses */
    const char *host_name; /* SK_HOST_AUTO when host is 0 */
    struct sk_job *next;
} sk_job;

/* In the order in which to run them. Only flavours set in `mpi`. */
sk_job *sk_jobs_new(sk_arena *a, const sk_bench_options *o, const bool *mpi);

/* Whether this many ranks are measured; see --ranks. */
bool sk_jobs_take_ranks(const sk_bench_options *o, sk_flavour mpi, int nranks);

int sk_job_points(const sk_job *j, const sk_bench_options *o);

/* The call of rank 0 that stands for a measured point of a global collective. */
sk_call sk_job_call(sk_arena *a, sk_coll coll, int64_t bytes, int nranks);

/* Put into it what the ranks find out when they all sit on this machine. The result, which is freed
 * by the caller after the call was used, may be NULL. */
sk_machine *sk_job_machine(sk_call *c);

/* `skein run LAUNCHER ... PROGRAM ...`, or without Skein when the options say so. `budget`: seconds
 * for each point. */
sk_strlist sk_job_command(sk_arena *a, const sk_bench_options *o, const sk_job *j,
                          const char *launcher, const char *program, double budget);

#endif
