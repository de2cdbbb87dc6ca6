/* job.h: run a command and stay until it ends. */
#ifndef SK_RUN_JOB_H
#define SK_RUN_JOB_H

#include <stdbool.h>

#include "run/watch.h"

/* Runs the command in the same process group, so that the terminal is the command's as before. Signals
 * that are sent to this process alone are passed on. `w` may be NULL. Returns false, with a message
 * and *exit_status, if the command cannot be started. */
bool sk_job_run(char *const *words, sk_watch *w, sk_job_end *end, int *exit_status);

/* Ends this process as the command ended: by the same signal, or with the status that is returned. */
int sk_job_exit(const sk_job_end *end);

#endif
