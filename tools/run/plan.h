/* plan.h: from the command the user typed to the command that is run. */
#ifndef SK_PLAN_RUN_H
#define SK_PLAN_RUN_H

#include "run/mpiof.h"

typedef struct sk_run_options {
    const char *report; /* value of SKEIN_REPORT, NULL when not asked for */
    const char *lib;    /* directory of the libraries, NULL when not given */
    sk_flavour mpi;     /* by --mpi, SK_MPI_NONE when not given */
    const char *match;  /* matching engine, "" for the default; NULL when not asked for */
    const char *trace;  /* how the names of trace files begin; NULL: nothing is recorded */
    bool dry_run;
} sk_run_options;

/* Append the command to `out`. Without a launcher the preload goes into the environment, or for a
 * dry run into the command. Returns 0, or the exit status after a refusal. */
int sk_plan(sk_strlist *out, const sk_run_options *o, char **words, int n);

#endif
