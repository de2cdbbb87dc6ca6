/* clock.c: see clock.h. The offset of a clock is measured by ping-pong; the fastest of many
 * exchanges is used, because the least of it can be waiting. */
#include "bench/mpi/clock.h"

#include <float.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PINGS = 50 };

/* Ranks on the machine of this rank. */
static int ranks_here(void)
{
    MPI_Comm node;
    int here;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_size(node, &here);
    PMPI_Comm_free(&node);
    return here;
}

static bool one_machine(void)
{
    int all, one;
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    int mine = ranks_here() == all;
    PMPI_Allreduce(&mine, &one, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return one;
}

static void answer(const sk_clock *c, int peer)
{
    for (int i = 0; i < PINGS; i++) {
        PMPI_Recv(NULL, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double now = sk_clock_now(c);
        PMPI_Send(&now, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    }
}

static double ask(const sk_clock *c)
{
    double best = DBL_MAX, offset = 0;
    for (int i = 0; i < PINGS; i++) {
        double theirs, before = sk_clock_now(c);
        PMPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        PMPI_Recv(&theirs, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double after = sk_clock_now(c);
        if (after - before < best) {
            best = after - before;
            offset = theirs - (before + after) / 2;
        }
    }
    return offset;
}

sk_clock sk_clock_new(void)
{
    sk_clock c = {0};
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (one_machine())
        return c;
    for (int r = 1; r < size; r++) {
        if (rank == 0)
            answer(&c, r);
        else if (rank == r)
            c.offset = ask(&c);
        PMPI_Barrier(MPI_COMM_WORLD);
    }
    return c;
}

/* ---- meeting in shared memory ---- */

struct sk_meeting {
    _Alignas(64) _Atomic long arrived; /* ranks, over all meetings */
    _Alignas(64) _Atomic long named;   /* the meeting that `moment` is for */
    double moment;
};

/* Now and then the MPI may go on with what a call has left to do. */
static void wait_for(_Atomic long *flag, long value, bool yield)
{
    enum { OFTEN = 4096 };
    for (int i = 1; atomic_load_explicit(flag, memory_order_acquire) < value; i++) {
        int found;
        if (yield)
            sched_yield();
        if (i % OFTEN == 0)
            PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
    }
}

static double meet(const sk_clock *c, const sk_start *s)
{
    struct sk_meeting *m = s->meeting;
    long now = atomic_load_explicit(&m->named, memory_order_relaxed) + 1;
    atomic_fetch_add_explicit(&m->arrived, 1, memory_order_acq_rel);
    if (s->rank == 0) {
        wait_for(&m->arrived, now * s->ranks, s->oversubscribed);
        m->moment = sk_clock_now(c) + s->lead;
        atomic_store_explicit(&m->named, now, memory_order_release);
    } else
        wait_for(&m->named, now, s->oversubscribed);
    return m->moment;
}

/* Ranks of one machine may be in containers that share no memory: then nobody has it. */
static bool all_have_window(sk_start *s)
{
    MPI_Aint bytes = s->rank == 0 ? (MPI_Aint)sizeof(struct sk_meeting) : 0;
    MPI_Errhandler before;
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int mine = PMPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &s->meeting,
                                        &s->window) == MPI_SUCCESS,
        all;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    PMPI_Errhandler_free(&before);
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* A new window is not cleared. */
static void open_meeting(sk_start *s)
{
    MPI_Aint bytes;
    int unit;
    if (!all_have_window(s)) {
        s->meeting = NULL;
        return;
    }
    PMPI_Win_shared_query(s->window, 0, &bytes, &unit, &s->meeting);
    if (s->rank == 0) {
        atomic_init(&s->meeting->arrived, 0);
        atomic_init(&s->meeting->named, 0);
    }
    PMPI_Barrier(MPI_COMM_WORLD);
}

static double named_moment(const sk_clock *c, const sk_start *s)
{
    if (s->meeting)
        return meet(c, s);
    PMPI_Barrier(MPI_COMM_WORLD);
    double moment = sk_clock_now(c) + s->lead;
    PMPI_Bcast(&moment, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return moment;
}

/* The lead is twice the longest time until a rank knew the moment. */
sk_start sk_start_new(const sk_clock *c)
{
    enum { TRIES = 20 };
    sk_start s = {0};
    double longest = 0;
    s.oversubscribed = ranks_here() > sysconf(_SC_NPROCESSORS_ONLN);
    PMPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    if (one_machine())
        open_meeting(&s);
    prctl(PR_SET_TIMERSLACK, 1);
    for (int i = 0; i < TRIES; i++) {
        double named = named_moment(c, &s), took = sk_clock_now(c) - named;
        if (i >= TRIES / 2 && took > longest)
            longest = took;
    }
    double mine = 2 * longest + 5e-6;
    PMPI_Allreduce(&mine, &s.lead, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return s;
}

void sk_start_free(sk_start *s)
{
    if (s->meeting)
        PMPI_Win_free(&s->window);
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
    *moment = named_moment(c, s);
    if (sk_clock_now(c) >= *moment)
        return false;
    while (sk_clock_now(c) < *moment)
        if (s->oversubscribed)
            sched_yield(); /* not a sleep: all ranks would wake on one core */
    return true;
}

void sk_start_rest(const sk_clock *c, const sk_start *s, double moment)
{
    if (s->oversubscribed)
        sleep_until(c, moment + s->lead);
}
