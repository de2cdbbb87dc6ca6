/* command.h: the command line of a job. */
#ifndef SK_COMMAND_H
#define SK_COMMAND_H

#include "bench/jobs.h"

/* `skein run LAUNCHER ... PROGRAM ...`, or without Skein when the options say so. `budget`: seconds
 * for each point. */
sk_strlist sk_job_command(sk_arena *a, const sk_bench_options *o, const sk_job *j,
                          const char *launcher, const char *program, double budget);

#endif
