#include "mpi/dispatch/request_inner.h"

#include <stdlib.h>

#include "base/assert.h"
#include "mpi/dispatch/by_host.h"
#include "mpi/dispatch/deferred.h"
#include "mpi/dispatch/op_pool.h"
#include "mpi/dispatch/setup.h"
#include "mpi/dispatch/staging.h"
#include "mpi/state/world.h"
#include "mpi/transport/shm_wire.h"

/* ---- one collective ---- */

/* Nonblocking collectives take the lanes in turn, whether they need them or not: so all ranks agree.
 * The lanes are made by the first one, in a call of the user: one thread at a time makes these on a
 * communicator. False: out of memory. */
static bool take_lane(sk_op *op, sk_comm *c)
{
    op->lane = (int)(c->next_lane++ % SK_SHM_LANES);
    if (!c->lane_capacity || c->lease->lane[op->lane])
        return true;
    return sk_lease_lane(sk_proc.world->leases, c->lease, op->lane) != NULL;
}

sk_op *sk_op_new(sk_comm *c, const sk_mpi_call *call, MPI_Op mpi_op, sk_plan *plan, sk_form form)
{
    pthread_mutex_lock(&sk_proc.lock);
    sk_op *op = sk_op_take();
    pthread_mutex_unlock(&sk_proc.lock);
    if (!op)
        return NULL;
    atomic_store_explicit(&op->users, 1, memory_order_relaxed);
    op->persistent = form == SK_PERSISTENT;
    op->send = call->send;
    op->recv = call->recv;
    op->error = call->error;
    op->own_lane = call->own_lane;
    op->wire = (sk_mpi_wire){.base.ops = &sk_mpi_wire_ops,
                             .comm = sk_comm_wire(c),
                             .peers = c->peers,
                             .op = mpi_op,
                             .kernel = call->kernel};
    if ((form == SK_NONBLOCKING && !take_lane(op, c)) ||
        (plan ? !sk_op_set_plan(op, c, call, plan) : !(op->call = sk_mpi_call_copy(call)))) {
        sk_op_release(op);
        return NULL;
    }
    if (plan)
        sk_plan_hold(plan);
    else {
        op->wire.handles = op->call->handles;
        op->ntypes = call->call.ntypes;
        op->setup = c->topo->requested;
        pthread_mutex_lock(&sk_proc.lock);
        c->topo->waiting[op->setup]++;
        pthread_mutex_unlock(&sk_proc.lock);
    }
    op->comm = c;
    sk_comm_hold(c);
    op->staging = call->staging;
    if (op->staging)
        sk_staging_keep(op->staging);
    sk_op_see_if_at_once(op);
    if (op->persistent) {
        op->quiet = INT64_MAX;
        pthread_mutex_lock(&sk_proc.lock);
        op->persistent_next = sk_proc.persistent_first;
        sk_proc.persistent_first = op;
        pthread_mutex_unlock(&sk_proc.lock);
        atomic_fetch_add(&sk_proc.persistent, 1);
    }
    return op;
}

/* ---- lanes ---- */

void sk_op_enter_lane(sk_op *op)
{
    sk_op **at = &op->comm->lane_first[op->lane];
    while (*at)
        at = &(*at)->lane_next;
    op->lane_next = NULL;
    op->in_lane = true;
    op->begun = false;
    *at = op;
}

/* The process lock is held here and below. */
static void leave_lane(sk_op *op)
{
    sk_op **at = &op->comm->lane_first[op->lane];
    while (*at != op)
        at = &(*at)->lane_next;
    *at = op->lane_next;
    op->in_lane = false;
}

/* Are those before it on its lane over? */
static bool may_run_on_lane(sk_op *op)
{
    if (op->comm->lane_first[op->lane] != op)
        return false;
    if (!op->begun)
        sk_mpi_wire_begin(&op->wire);
    op->begun = true;
    return true;
}

/* Plan the call if its set-up is done: SK_OK, SK_AGAIN, or an error. */
static sk_status make_plan(sk_op *op)
{
    sk_comm *c = op->comm;
    sk_plan *plan = NULL;
    sk_status st = sk_setup_poll(c->topo, c, op->setup, false);
    if (st == SK_AGAIN)
        return st;
    sk_mpi_call *call = op->call;
    SK_ASSERT(c->topo->waiting[op->setup] > 0);
    c->topo->waiting[op->setup]--;
    op->call = NULL;
    if (st == SK_OK)
        st = sk_comm_plan(c, &call->call, &plan, NULL);
    if (st == SK_OK)
        st = !plan->algo ? SK_BADARG : sk_op_set_plan(op, c, call, plan) ? SK_OK : SK_NOMEM;
    if (st != SK_OK) {
        sk_plan_release(plan);
        op->ntypes = 0;
    }
    if (op->in_lane && (st != SK_OK || !sk_sched_view(plan->sched)->nepochs))
        leave_lane(op);
    free(call);
    return st;
}

/* ---- the generalized request ---- */

int sk_op_result(const sk_op *op)
{
    return op->run.status == SK_TRUNCATE ? MPI_ERR_TRUNCATE : op->wire.error;
}

void sk_op_status(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    sk_host.Status_set_elements(status, MPI_BYTE, 0);
    sk_host.Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
}

static int query_request(void *state, MPI_Status *status)
{
    sk_op_status(status);
    return sk_op_result(state);
}

static int free_request(void *state)
{
    sk_op_release(state);
    return MPI_SUCCESS;
}

static int cancel_request(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS; /* collectives cannot be cancelled */
}

void sk_op_link_active(sk_op *op)
{
    op->next = NULL;
    *sk_proc.active_end = op;
    sk_proc.active_end = &op->next;
    atomic_fetch_add(&sk_proc.inflight, 1);
}

/* The progress tests it from now on. The lock is held. */
static void link_by_host(sk_op *op)
{
    if (!op->by_host || op->linked || sk_op_state_of(op) != SK_OP_ACTIVE)
        return;
    op->linked = true;
    sk_op_hold(op);
    sk_op_link_active(op);
}

MPI_Request sk_op_work(sk_op *op)
{
    pthread_mutex_lock(&sk_proc.lock);
    bool made = op->work_made;
    if (!made) {
        link_by_host(op);
        sk_op_hold(op);
        int rc = sk_host.Grequest_start(query_request, free_request, cancel_request, op, &op->work);
        if (rc != MPI_SUCCESS)
            sk_host.Abort(MPI_COMM_WORLD, rc); /* out of memory */
        op->work_made = true;
    }
    bool over = sk_op_state_of(op) == SK_OP_OVER;
    pthread_mutex_unlock(&sk_proc.lock);
    if (!made && over)
        sk_host.Grequest_complete(op->work);
    return op->work;
}

/* ---- progress ---- */

void sk_op_init_run(sk_op *op)
{
    sk_run_init(&op->run, op->plan->sched, &op->wire.base, op->send, op->recv, op->scratch,
                op->packets);
}

/* `first`: only start messages, do not look for any. That would run the host's progress, which it does not
 * run itself in calls that start something: Open MPI 4.1 hangs if, with several MPI_Comm_idup on a
 * communicator, some ranks do and others do not. */
static sk_status poll_run(sk_op *op, bool first)
{
    if (op->by_host)
        return first ? SK_AGAIN : sk_by_host_poll(op);
    if (op->call) {
        sk_status st = make_plan(op);
        if (st == SK_AGAIN)
            return st;
        if (st != SK_OK) {
            op->wire.error = st == SK_NOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
            return st;
        }
        sk_op_init_run(op);
    }
    if (op->in_lane && !may_run_on_lane(op))
        return SK_AGAIN;
#if SK_HAVE_SHM
    if (op->run.sched->straight)
        return sk_shm_wire_straight_poll(&op->run);
#endif
    return first ? sk_run_post(&op->run) : sk_run_poll(&op->run);
}

/* Buffers in device memory: there, run, and back. */
static sk_status poll_staged(sk_op *op)
{
    sk_status st = SK_OK;
    if (op->stage == SK_STAGE_IN) {
        if ((st = sk_staging_poll(op->staging)) == SK_OK)
            op->stage = SK_STAGE_RUN;
    }
    if (op->stage == SK_STAGE_RUN && st == SK_OK && (st = poll_run(op, false)) == SK_OK) {
        op->stage = SK_STAGE_BACK;
        st = sk_staging_begin(op->staging, true);
    }
    if (op->stage == SK_STAGE_BACK && st == SK_OK)
        st = sk_staging_poll(op->staging);
    if (st == SK_WIRE && op->wire.error == MPI_SUCCESS)
        op->wire.error = MPI_ERR_OTHER;
    return st;
}

static bool run_is_over(sk_op *op, bool first)
{
    if ((op->staging && !op->by_host ? poll_staged(op) : poll_run(op, first)) == SK_AGAIN)
        return false;
    if (op->in_lane)
        leave_lane(op);
    return true;
}

/* Progress one collective; the process lock is held. True: it is over. From then on others may wait for
 * it, but it stays until `complete`. */
static bool poll_op(sk_op *op, bool first)
{
    SK_ASSERT(sk_process_locked());
    if (!op->agreeing)
        return run_is_over(op, first);
    op->ran = op->ran || run_is_over(op, first);
    return !first && sk_persist_poll(op->persist) && op->ran;
}

/* The run is over. The process lock is not held: completing the request calls the host. The
 * communicator is released here and not in free_request, which the host may call while it holds a
 * lock of its own. */
static void complete(sk_op *op)
{
    if (op->by_host)
        sk_persist_count(op->persist, op->since);
    else if (sk_proc.report && op->plan)
        sk_count_served(op->plan,
                        sk_report_counter_of(sk_proc.report, op->plan->algo_index, op->plan->size),
                        op->since, NULL);
    if (!op->persistent) {
        sk_comm_release(op->comm);
        op->comm = NULL;
    }
    pthread_mutex_lock(&sk_proc.lock);
    bool made = op->work_made; /* the next start of a persistent one may come at once */
    MPI_Request work = op->work;
    atomic_store_explicit(&op->state, SK_OP_OVER, memory_order_release);
    pthread_mutex_unlock(&sk_proc.lock);
    if (made)
        sk_host.Grequest_complete(work);
    sk_op_release(op);
    if (atomic_load_explicit(&sk_proc.ndeferred, memory_order_relaxed))
        sk_free_deferred();
}

void sk_op_start(sk_op *op)
{
    bool lane = op->comm->lane_capacity && !op->persistent &&
                (!op->plan || sk_sched_view(op->plan->sched)->nepochs);
    atomic_fetch_add_explicit(&sk_proc.pending, 1, memory_order_relaxed);
    sk_op_hold(op);
    if (op->plan)
        sk_op_init_run(op);
    op->wire.nreqs = 0;
    op->wire.error = op->error;
    op->wire.hint.call = sk_process_call();
    op->owned = op->work_made = false;
    atomic_store_explicit(&op->state, SK_OP_ACTIVE, memory_order_relaxed);
    op->stage = SK_STAGE_IN;
    if (op->staging && sk_staging_begin(op->staging, false) != SK_OK)
        op->wire.error = MPI_ERR_OTHER;
    if (sk_proc.reporting)
        op->since = sk_clock();

    pthread_mutex_lock(&sk_proc.lock);
    if (lane)
        sk_op_enter_lane(op);
    else if (op->own_lane.shm && sk_sched_view(op->plan->sched)->nepochs)
        sk_mpi_wire_begin(&op->wire);
    bool over = poll_op(op, true);
    if (!over)
        sk_op_link_active(op);
    pthread_mutex_unlock(&sk_proc.lock);
    if (over)
        complete(op);
}

int sk_op_start_by_host(sk_op *op)
{
    op->run.status = SK_OK;
    op->wire.error = op->error;
    op->owned = op->work_made = op->linked = op->raised = false;
    if (sk_proc.reporting)
        op->since = sk_clock();
    bool gone = op->persist->host == MPI_REQUEST_NULL;
    int rc = gone ? MPI_ERR_REQUEST : sk_host.Start(&op->persist->host);
    if (rc != MPI_SUCCESS) {
        if (!op->agreeing)
            return gone ? sk_raise(op->comm, rc) : rc;
        op->ran = true; /* the others need this rank to agree: whoever waits hears of it */
        op->wire.error = rc;
        op->raised = !gone;
    }
    sk_process_add(&sk_proc.pending, 1);
    atomic_store_explicit(&op->state, SK_OP_ACTIVE, memory_order_relaxed);
    if (op->agreeing) {
        pthread_mutex_lock(&sk_proc.lock);
        link_by_host(op);
        pthread_mutex_unlock(&sk_proc.lock);
    }
    return MPI_SUCCESS;
}

/* Polling a collective looks at the network, so with many active ones only some are polled each
 * time. */
enum { MOST_POLLED = 4 };

static void unlink_active(sk_op **at)
{
    sk_op *op = *at;
    *at = op->next;
    if (!*at)
        sk_proc.active_end = at;
    op->next = NULL;
}

/* Behind sk_progress. Does nothing if it is called from within itself or while another thread is
 * inside. */
static void progress(void)
{
    if (pthread_mutex_trylock(&sk_proc.lock) != 0)
        return;
    sk_hint outer = sk_hint_aside();
    sk_op *over = NULL, **over_end = &over, **at = &sk_proc.active, *op;
    for (int polled = 0; polled < MOST_POLLED && (op = *at); polled++) {
        if (op->owned || !poll_op(op, false)) {
            at = &op->next;
            continue;
        }
        unlink_active(at);
        *over_end = op;
        over_end = &op->next;
    }
    if (*at && at != &sk_proc.active) { /* those polled go to the end of the list */
        *sk_proc.active_end = sk_proc.active;
        sk_proc.active_end = at;
        sk_proc.active = *at;
        *at = NULL;
    }
    pthread_mutex_unlock(&sk_proc.lock);
    for (sk_op *op = over, *next; op; op = next) {
        next = op->next;
        complete(op);
        /* Only now: while a request is not complete, no thread may wait for it inside the host. */
        atomic_fetch_sub(&sk_proc.inflight, 1);
    }
    sk_hint_back(outer);
}

void sk_request_end(void)
{
    sk_op_pool_free();
}

void sk_request_start(void)
{
    sk_proc.active_end = &sk_proc.active;
    sk_proc.progress = progress;
}

/* ---- waiting ---- */

/* If it is the only one, this thread runs it to its end, as if the call were blocking: then a rank waits in
 * shared memory, and sleeps there where ranks share cores. */
static bool run_alone(sk_op *op)
{
    pthread_mutex_lock(&sk_proc.lock);
    bool alone = sk_proc.active == op && !op->next && op->plan && !op->staging && !op->call &&
                 !op->by_host && !op->agreeing && sk_sched_view(op->plan->sched)->nepochs &&
                 (op->own_lane.shm || (op->in_lane && may_run_on_lane(op)));
    op->owned = alone;
    pthread_mutex_unlock(&sk_proc.lock);
    if (!alone)
        return false;
#if SK_HAVE_SHM
    if (op->run.sched->straight)
        sk_shm_wire_straight(&op->run);
    else
#endif
        sk_run_wait(&op->run);
    pthread_mutex_lock(&sk_proc.lock);
    if (op->in_lane)
        leave_lane(op);
    sk_op **at = &sk_proc.active;
    while (*at != op)
        at = &(*at)->next;
    unlink_active(at);
    pthread_mutex_unlock(&sk_proc.lock);
    complete(op);
    atomic_fetch_sub(&sk_proc.inflight, 1);
    return true;
}

static void wait_until_over(sk_op *op)
{
    enum { HOST_EVERY = 8 };
    if (op->by_host && !op->linked) {
        sk_by_host_wait(op);
        return;
    }
    if (run_alone(op))
        return;
    unsigned polls = 0;
    SK_WAIT_UNTIL(sk_proc.wait, sk_op_state_of(op) == SK_OP_OVER,
                  ++polls % HOST_EVERY ? sk_progress() : sk_host_progress());
}

/* With a report. */
__attribute__((noinline)) static void wait_observed(sk_op *op)
{
    pthread_mutex_lock(&sk_proc.lock);
    const sk_plan *plan = op->plan; /* NULL: not planned yet */
    sk_coll coll = plan ? plan->algo->coll : SK_NCOLLS;
    pthread_mutex_unlock(&sk_proc.lock);
    double since = sk_clock();
    wait_until_over(op);
    sk_observe_wait(coll, since);
}

void sk_op_wait(sk_op *op)
{
    if (sk_op_state_of(op) == SK_OP_OVER)
        return;
    if (SK_UNLIKELY(sk_proc.reporting))
        wait_observed(op);
    else
        wait_until_over(op);
}

void sk_op_test(sk_op *op)
{
    if (sk_op_state_of(op) == SK_OP_OVER)
        return;
    if (!op->by_host || op->linked) {
        sk_progress();
        return;
    }
    sk_by_host_test(op);
}

void sk_op_waited(sk_op *op)
{
    SK_ASSERT(sk_op_state_of(op) == SK_OP_OVER);
    sk_process_add(&sk_proc.pending, -1);
    if (op->persistent)
        atomic_store_explicit(&op->state, SK_OP_IDLE, memory_order_relaxed);
    else
        sk_op_release(op);
}

/* A started one goes on; whoever lets go of it last puts it back. */
void sk_op_user_frees(sk_op *op)
{
    if (op->persistent) {
        pthread_mutex_lock(&sk_proc.lock);
        sk_op **at = &sk_proc.persistent_first;
        while (*at != op)
            at = &(*at)->persistent_next;
        *at = op->persistent_next;
        link_by_host(op);
        pthread_mutex_unlock(&sk_proc.lock);
        atomic_fetch_sub(&sk_proc.persistent, 1);
    }
    if (sk_op_state_of(op) != SK_OP_IDLE) {
        atomic_fetch_sub(&sk_proc.pending, 1);
        if (op->work_made) {
            MPI_Request work = op->work;
            sk_host.Request_free(&work);
        }
    }
    sk_op_release(op);
    if (atomic_load_explicit(&sk_proc.ndeferred, memory_order_relaxed))
        sk_free_deferred();
}
