/* process.c: the process object, and how a rank waits. */
#include "mpi/state/process.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

sk_process sk_proc = {.location_lock = PTHREAD_MUTEX_INITIALIZER,
                      .lock = PTHREAD_MUTEX_INITIALIZER};

void sk_relax(void)
{
    if (sk_proc.wait == SK_WAIT_YIELD || sk_proc.wait == SK_WAIT_MIXED)
        sched_yield();
    else if (sk_proc.wait == SK_WAIT_SLEEP)
        nanosleep(&(struct timespec){.tv_nsec = 1}, NULL); /* as short as the kernel makes it */
}

int sk_wait_request(MPI_Request *request, MPI_Status *status)
{
    for (int done = 0, rc;;) {
        sk_progress();
        rc = PMPI_Test(request, &done, status);
        if (done || rc != MPI_SUCCESS)
            return rc;
        sk_relax();
    }
}

/* ---- the policy ---- */

static long ranks_on_node(void)
{
    static const char *const vars[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                       "PMI_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof vars / sizeof *vars; i++) {
        const char *text = getenv(vars[i]);
        if (text && atol(text) > 0)
            return atol(text);
    }
    return 1;
}

/* With autogroup scheduling the kernel schedules sessions first. If each rank is a session of its
 * own, sched_yield may switch to any other session, and the more of them share a core, the longer
 * the rank that is waited for may have to wait for its time slice. */
static bool own_session(void)
{
    int on = 0;
    FILE *f = fopen("/proc/sys/kernel/sched_autogroup_enabled", "r");
    if (f) {
        if (fscanf(f, "%d", &on) != 1)
            on = 0;
        fclose(f);
    }
    return on == 1 && getsid(0) == getpid();
}

static sk_wait policy_when_sharing(void)
{
    enum { MOST_YIELDING = 16 }; /* sessions on a core up to which yielding beats sleeping */
    if (!own_session())
        return SK_WAIT_YIELD;
    return ranks_on_node() <= MOST_YIELDING * sysconf(_SC_NPROCESSORS_ONLN) ? SK_WAIT_MIXED
                                                                            : SK_WAIT_SLEEP;
}

void sk_wait_sharing(void)
{
    const char *wait = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_WAIT);
    if (sk_proc.wait == SK_WAIT_SPIN && strcmp(wait, "auto") == 0)
        sk_proc.wait = policy_when_sharing();
}

sk_wait sk_wait_policy(const sk_settings *set)
{
    static const char *const names[] = {[SK_WAIT_SPIN] = "spin",
                                        [SK_WAIT_YIELD] = "yield",
                                        [SK_WAIT_MIXED] = "mixed",
                                        [SK_WAIT_SLEEP] = "sleep"};
    const char *wait = sk_settings_text(set, SK_SET_WAIT);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(wait, names[i]) == 0)
            return (sk_wait)i;
    return ranks_on_node() <= sysconf(_SC_NPROCESSORS_ONLN) ? SK_WAIT_SPIN : policy_when_sharing();
}
