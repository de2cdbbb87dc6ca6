#include "bench/mpi/start.h"

#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

static double named_moment(const sk_clock *c, double lead)
{
    PMPI_Barrier(MPI_COMM_WORLD);
    double moment = sk_clock_now(c) + lead;
    PMPI_Bcast(&moment, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return moment;
}

/* The time until the last rank knows, with room for a bad day. */
sk_start sk_start_new(const sk_clock *c)
{
    enum { TRIES = 20 };
    sk_start s = {0};
    int here;
    MPI_Comm node;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_size(node, &here);
    PMPI_Comm_free(&node);
    s.crowded = here > sysconf(_SC_NPROCESSORS_ONLN);
    prctl(PR_SET_TIMERSLACK, 1);
    for (int i = 0; i < TRIES; i++) {
        double named = named_moment(c, 0), took = sk_clock_now(c) - named;
        if (i >= TRIES / 2 && took > s.lead)
            s.lead = took;
    }
    s.lead = 2 * s.lead + 5e-6;
    double mine = s.lead;
    PMPI_Allreduce(&mine, &s.lead, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return s;
}

static void sleep_until(const sk_clock *c, double moment)
{
    double local = moment - c->offset;
    struct timespec t = {.tv_sec = (time_t)local};
    t.tv_nsec = (long)(1e9 * (local - (double)t.tv_sec));
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

bool sk_start_together(const sk_clock *c, const sk_start *s, double *moment)
{
    *moment = named_moment(c, s->lead);
    if (sk_clock_now(c) >= *moment)
        return false;
    while (sk_clock_now(c) < *moment)
        if (s->crowded)
            sched_yield(); /* ranks that sleep are all woken on one core */
    return true;
}

void sk_start_rest(const sk_clock *c, const sk_start *s, double moment)
{
    if (s->crowded)
        sleep_until(c, moment + s->lead);
}
