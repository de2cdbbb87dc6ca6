#include "mpi/dispatch/persist.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/dispatch/count.h"
#include "mpi/dispatch/observe.h"
#include "mpi/dispatch/watch.h"

sk_persist *sk_persist_new(const sk_guard *guard, sk_coll coll, int64_t bytes, int tag)
{
    enum { FEWEST = 8 }; /* starts between two attempts to begin */
    sk_persist *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->guard = *guard;
    t->host = t->holder = MPI_REQUEST_NULL;
    t->tag = tag;
    t->coll = coll;
    t->bytes = bytes;
    t->retry = guard->before > FEWEST ? guard->before : FEWEST;
    return t;
}

/* The user may free the communicator. Open MPI's persistent collectives do not keep it, but a receive does that is never
 * started: see sk_host_keeps_comms. */
void sk_persist_add_host(sk_persist *t, MPI_Request host, MPI_Comm comm)
{
    t->host = host;
    if (sk_host.Recv_init(NULL, 0, MPI_BYTE, 0, 0, comm, &t->holder) == MPI_SUCCESS)
        return;
    t->holder = MPI_REQUEST_NULL;
    sk_host.Request_free(&t->host);
}

/* ---- one at a time ---- */

/* May this one be compared, or if it `began`, still? */
static bool take_token(sk_persist *t, bool began)
{
    pthread_mutex_lock(&sk_proc.lock);
    bool mine = began ? sk_token_keep(&sk_proc.compared, &t->claim)
                      : sk_token_take(&sk_proc.compared, &t->claim);
    pthread_mutex_unlock(&sk_proc.lock);
    if (mine)
        sk_watch(SK_WATCH_PERSISTENT, true);
    return mine;
}

static void drop_token(const sk_persist *t)
{
    pthread_mutex_lock(&sk_proc.lock);
    bool mine = sk_token_drop(&sk_proc.compared, &t->claim);
    pthread_mutex_unlock(&sk_proc.lock);
    if (mine)
        sk_watch(SK_WATCH_PERSISTENT, false);
}

void sk_persist_free(sk_persist *t)
{
    if (!t)
        return;
    drop_token(t);
    if (t->host != MPI_REQUEST_NULL)
        sk_host.Request_free(&t->host);
    if (t->holder != MPI_REQUEST_NULL)
        sk_host.Request_free(&t->holder);
    free(t);
}

/* ---- what the ranks ask each other ---- */

enum { FREE, BUSY }; /* values[0] of SK_PERSIST_BEGIN; the largest counts */

static int64_t shorter(int64_t so_far, int64_t ns)
{
    return so_far && so_far < ns ? so_far : ns;
}

static void say_times(sk_persist *t)
{
    int64_t before = sk_watch_now(), since = sk_watch_now();
    sk_guard_say(&t->guard, t->values);
    t->clock_ns = shorter(t->clock_ns, since - before);
    t->values[SK_GUARD_MEETING] = t->meeting_ns;
    t->values[SK_GUARD_CLOCK] = t->clock_ns;
}

static sk_persist_start ask(sk_persist *t, const sk_comm *c, sk_persist_question what,
                            sk_guard_side side)
{
    memset(t->values, 0, sizeof t->values);
    if (what == SK_PERSIST_COMPARE) {
        say_times(t);
        t->values[SK_PERSIST_LOST] = t->lost;
    } else if (what == SK_PERSIST_BEGIN)
        t->values[0] = take_token(t, false) ? FREE : BUSY;
    t->values[SK_PERSIST_GONE] =
        sk_guard_has(&t->guard, SK_GUARD_HOST) && t->host == MPI_REQUEST_NULL;
    t->asked = what;
    t->agreed = false;
    if (sk_own_allreduce(&t->agreement, c, t->tag, t->values, SK_PERSIST_VALUES, SK_OP_MAX) !=
        SK_OK)
        sk_host.Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM); /* the others wait for it */
    return (sk_persist_start){.side = side, .watched = true};
}

bool sk_persist_poll(sk_persist *t)
{
    if (t->agreed)
        return true;
    sk_status st = sk_own_coll_poll(&t->agreement, false);
    if (st == SK_AGAIN)
        return false;
    if (st != SK_OK)
        sk_host.Abort(MPI_COMM_WORLD, MPI_ERR_INTERN); /* the others would decide something else */
    return t->agreed = true;
}

/* Not all requests at the same start, because the ranks may have come to them in different orders. */
static void try_later(sk_persist *t)
{
    enum { APART = 8 };
    drop_token(t);
    t->may_begin = false;
    t->retry = t->retry > INT64_MAX / 8 ? INT64_MAX / 4 : 2 * t->retry;
    sk_guard_put_off(&t->guard, t->retry + t->tag % APART);
}

/* A comparison begins, or the ranks try again later. */
static void begin_or_wait(sk_persist *t)
{
    t->may_begin = t->values[0] == FREE;
    t->lost = false;
    if (!t->may_begin)
        try_later(t);
}

/* A rank has no request of the host's. */
static void leave_host(sk_persist *t)
{
    drop_token(t);
    t->may_begin = false;
    sk_guard_leave_host(&t->guard);
}

/* What the ranks have agreed on beside the last start, and what it took. */
static void conclude(sk_persist *t, const sk_comm *c, int64_t took)
{
    if (t->timed)
        sk_guard_took(&t->guard, took);
    if (t->asked != SK_PERSIST_NOTHING && t->values[SK_PERSIST_GONE])
        leave_host(t);
    else if (t->asked == SK_PERSIST_BEGIN)
        begin_or_wait(t);
    else if (t->asked == SK_PERSIST_COMPARE) {
        t->meeting_ns = shorter(t->meeting_ns, took);
        if (t->values[SK_PERSIST_LOST]) /* a rank compared another one meanwhile */
            try_later(t);
        else if (sk_guard_go_on(&t->guard, t->values)) {
            sk_guarded_ended(&t->guard, c, t->coll, t->bytes, &t->learn);
            t->may_begin = false;
            drop_token(t);
        }
    }
    t->timed = false;
    t->asked = SK_PERSIST_NOTHING;
}

/* A start of a comparison. */
static sk_persist_start compare(sk_persist *t, const sk_comm *c)
{
    t->lost = t->lost || !take_token(t, true);
    if (sk_guard_must_agree(&t->guard))
        return ask(t, c, SK_PERSIST_COMPARE, t->guard.best);
    sk_guard_verdict v = sk_guard_ask(&t->guard, NULL, NULL);
    t->timed = v.timed;
    if (v.timed || t->guard.phase != SK_GUARD_TIME)
        return (sk_persist_start){.side = v.side, .watched = true};
    t->guard.meetings++;
    return ask(t, c, SK_PERSIST_MEET, v.side);
}

sk_persist_start sk_persist_next(sk_persist *t, const sk_comm *c)
{
    sk_guard *g = &t->guard;
    if (t->asked == SK_PERSIST_NOTHING && !t->timed && sk_guard_passes(g))
        return (sk_persist_start){.side = SK_GUARD_HOST};
    int64_t waited = atomic_load_explicit(&sk_proc.waited, memory_order_relaxed);
    conclude(t, c, waited - t->before);
    if (sk_guard_quiet(g)) {
        sk_persist_start next = {.side = g->best, .quiet = g->quiet};
        g->quiet = 0;
        return next;
    }
    if (sk_guard_passes(g))
        return (sk_persist_start){.side = g->best};
    t->before = waited;
    return t->may_begin ? compare(t, c) : ask(t, c, SK_PERSIST_BEGIN, g->best);
}

/* ---- the host's ---- */

void sk_persist_count(const sk_persist *t, double since)
{
    sk_host_reason why = t->tuned ? SK_HOST_TUNED : SK_HOST_FASTER;
    if (!sk_proc.reporting)
        sk_count_pass(t->coll, why);
    else if (sk_proc.report)
        sk_report_counter_add(sk_report_host_counter(sk_proc.report, t->coll, why, t->bytes),
                              sk_observe_host(NULL, t->coll, since));
}
