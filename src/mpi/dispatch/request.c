#include "mpi/dispatch/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "mpi/dispatch/setup.h"
#include "mpi/dispatch/staging.h"

/* Freed by the user, still needed by an active collective. */
typedef struct sk_deferred_free {
    struct sk_deferred_free *next;
    bool is_op;
    MPI_Datatype type;
    MPI_Op op;
} sk_deferred_free;

/* ---- one collective ---- */

static void free_op(sk_op *op)
{
    sk_plan_release(op->plan);
    if (op->comm)
        sk_comm_release(op->comm);
    sk_staging_free(op->staging);
    free(op->call);
    free(op->memory);
    free(op);
}

static void hold(sk_op *op)
{
    atomic_fetch_add_explicit(&op->users, 1, memory_order_relaxed);
}

static void release(sk_op *op)
{
    SK_ASSERT(atomic_load(&op->users) > 0);
    if (atomic_fetch_sub_explicit(&op->users, 1, memory_order_acq_rel) == 1)
        free_op(op);
}

/* Everything a run needs, in one block of memory. Takes over the caller's hold on the plan. */
static bool set_plan(sk_op *op, const sk_comm *c, const sk_mpi_call *call, sk_plan *plan)
{
    const struct sk_sched_view *v = sk_sched_view(plan->sched);
    size_t scratch = ((size_t)v->scratch + 63) & ~(size_t)63;
    size_t packets = (size_t)sk_run_packet_bytes(plan->sched);
    size_t handles = v->ntypes * sizeof(MPI_Datatype);
    size_t arrays = (sk_mpi_wire_bytes(v->max_transfers) + 63) & ~(size_t)63;
    char *memory = aligned_alloc(64, (scratch + packets + arrays + handles + 63) & ~(size_t)63);
    if (!memory)
        return false;
    op->memory = op->scratch = memory;
    op->packets = memory + scratch;
    MPI_Datatype *types = (MPI_Datatype *)(memory + scratch + packets + arrays);
    memcpy(types, call->handles, handles);
    op->ntypes = v->ntypes;
    op->wire.types = v->types;
    op->wire.handles = types;
    op->wire.exact = sk_mpi_wire_exact(plan->algo->coll);
    op->wire.hint = sk_hint_of(plan->algo->coll, plan->bytes, c->nranks, op->wire.hint.call);
    sk_mpi_wire_set_arrays(&op->wire, memory + scratch + packets, v->max_transfers);
    op->plan = plan;
    return true;
}

sk_op *sk_op_new(sk_comm *c, const sk_mpi_call *call, MPI_Op mpi_op, sk_plan *plan)
{
    sk_op *op = calloc(1, sizeof *op);
    if (!op)
        return NULL;
    atomic_init(&op->users, 1);
    op->send = call->send;
    op->recv = call->recv;
    op->error = call->error;
    op->wire = (sk_mpi_wire){.base.ops = &sk_mpi_wire_ops,
                             .comm = sk_comm_wire(c),
                             .peers = c->peers,
                             .op = mpi_op,
                             .kernel = call->kernel};
    if (plan ? !set_plan(op, c, call, plan) : !(op->call = sk_mpi_call_copy(call))) {
        free(op);
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
    return op;
}

void sk_op_free(sk_op *op)
{
    if (op->call) {
        pthread_mutex_lock(&sk_proc.lock);
        op->comm->topo->waiting[op->setup]--;
        pthread_mutex_unlock(&sk_proc.lock);
    }
    free_op(op);
}

/* Plan the call if its set-up is done: SK_OK, SK_AGAIN, or an error. The process lock is held. */
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
        st = sk_comm_plan(c, &call->call, &plan);
    if (st == SK_OK)
        st = !plan->algo ? SK_BADARG : set_plan(op, c, call, plan) ? SK_OK : SK_NOMEM;
    if (st != SK_OK) {
        sk_plan_release(plan);
        op->ntypes = 0;
    }
    free(call);
    return st;
}

/* ---- the generalized request ---- */

static int query_request(void *state, MPI_Status *status)
{
    const sk_op *op = state;
    sk_host.Status_set_elements(status, MPI_BYTE, 0);
    sk_host.Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return op->run.status == SK_TRUNCATE ? MPI_ERR_TRUNCATE : op->wire.error;
}

static int free_request(void *state)
{
    release(state);
    return MPI_SUCCESS;
}

static int cancel_request(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS; /* collectives cannot be cancelled */
}

/* ---- progress ---- */

static void init_run(sk_op *op)
{
    sk_run_init(&op->run, op->plan->sched, &op->wire.base, op->send, op->recv, op->scratch,
                op->packets);
}

static sk_status poll_run(sk_op *op)
{
    if (op->call) {
        sk_status st = make_plan(op);
        if (st == SK_AGAIN)
            return st;
        if (st != SK_OK) {
            op->wire.error = st == SK_NOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
            return st;
        }
        init_run(op);
    }
    return sk_run_poll(&op->run);
}

/* Buffers in device memory: there, run, and back. */
static sk_status poll_staged(sk_op *op)
{
    sk_status st = SK_OK;
    if (op->stage == SK_STAGE_IN) {
        if ((st = sk_staging_poll(op->staging)) == SK_OK)
            op->stage = SK_STAGE_RUN;
    }
    if (op->stage == SK_STAGE_RUN && st == SK_OK && (st = poll_run(op)) == SK_OK) {
        op->stage = SK_STAGE_BACK;
        st = sk_staging_begin(op->staging, true);
    }
    if (op->stage == SK_STAGE_BACK && st == SK_OK)
        st = sk_staging_poll(op->staging);
    if (st == SK_WIRE && op->wire.error == MPI_SUCCESS)
        op->wire.error = MPI_ERR_OTHER;
    return st;
}

/* Progress one collective; the process lock is held. */
static sk_status poll_op(sk_op *op)
{
    SK_ASSERT(sk_process_locked());
    return op->staging ? poll_staged(op) : poll_run(op);
}

static void free_deferred(void);

/* The run is over. The process lock is not held: completing the request calls the host. The
 * communicator is released here and not in free_request, which the host may call while it holds a
 * lock of its own. */
static void complete(sk_op *op)
{
    if (sk_proc.report && op->plan)
        sk_count_served(op->plan,
                        sk_report_counter_of(sk_proc.report, op->plan->algo_index, op->plan->size),
                        op->since);
    sk_host.Grequest_complete(op->work);
    if (!op->persistent) {
        sk_comm_release(op->comm);
        op->comm = NULL;
    }
    release(op);
    if (atomic_load_explicit(&sk_proc.ndeferred, memory_order_relaxed))
        free_deferred();
}

int sk_op_start(sk_op *op)
{
    if (op->persistent)
        hold(op); /* for the request; a nonblocking one has no other handle */
    int rc = sk_host.Grequest_start(query_request, free_request, cancel_request, op, &op->work);
    if (rc != MPI_SUCCESS) {
        if (op->persistent)
            release(op);
        return rc;
    }
    hold(op);
    if (op->plan)
        init_run(op);
    op->wire.nreqs = 0;
    op->wire.error = op->error;
    op->wire.hint.call = sk_process_call();
    op->started = true;
    op->stage = SK_STAGE_IN;
    if (op->staging && sk_staging_begin(op->staging, false) != SK_OK)
        op->wire.error = MPI_ERR_OTHER;
    if (sk_proc.reporting)
        op->since = sk_host.Wtime();

    /* Looking for messages would run the host's progress, which it does not run in such calls itself:
     * Open MPI 4.1 hangs if, with several MPI_Comm_idup on a communicator, some ranks do and others
     * do not. */
    pthread_mutex_lock(&sk_proc.lock);
    bool over = (op->plan && !op->staging ? sk_run_post(&op->run) : poll_op(op)) != SK_AGAIN;
    if (!over) {
        op->next = NULL;
        *sk_proc.active_end = op;
        sk_proc.active_end = &op->next;
        atomic_fetch_add(&sk_proc.inflight, 1);
    }
    pthread_mutex_unlock(&sk_proc.lock);
    if (over)
        complete(op);
    return MPI_SUCCESS;
}

/* Polling a collective looks at the network, so with many active ones only some are polled each
 * time. */
enum { MOST_POLLED = 4 };

/* Behind sk_progress. Does nothing if it is called from within itself or while another thread is
 * inside. */
static void progress(void)
{
    if (pthread_mutex_trylock(&sk_proc.lock) != 0)
        return;
    sk_hint outer = sk_hint_aside();
    sk_op *over = NULL, **over_end = &over, **at = &sk_proc.active, *op;
    for (int polled = 0; polled < MOST_POLLED && (op = *at); polled++) {
        if (poll_op(op) == SK_AGAIN) {
            at = &op->next;
            continue;
        }
        *at = op->next;
        if (!*at)
            sk_proc.active_end = at;
        op->next = NULL;
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

void sk_request_start(void)
{
    sk_proc.active_end = &sk_proc.active;
    sk_proc.progress = progress;
}

/* ---- persistent collectives ---- */

int sk_persist_add(sk_op *op)
{
    /* Not from MPI_PROC_NULL: MPICH 4.0 reuses the memory of a freed request for its own persistent
     * collectives without clearing the source, and does not start those that have this one. */
    int rc = sk_host.Recv_init(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, &op->handle);
    if (rc != MPI_SUCCESS)
        return rc;
    op->persistent = true;
    sk_op **bucket = &sk_proc.persistent[SK_HANDLE_INDEX(op->handle)];
    pthread_mutex_lock(&sk_proc.lock);
    op->next_known = *bucket;
    *bucket = op;
    atomic_fetch_add(&sk_proc.persist_known, 1);
    pthread_mutex_unlock(&sk_proc.lock);
    return MPI_SUCCESS;
}

sk_op *sk_persist_find(MPI_Request handle)
{
    if (!atomic_load_explicit(&sk_proc.persist_known, memory_order_relaxed) ||
        handle == MPI_REQUEST_NULL)
        return NULL;
    pthread_mutex_lock(&sk_proc.lock);
    sk_op *op = sk_proc.persistent[SK_HANDLE_INDEX(handle)];
    while (op && op->handle != handle)
        op = op->next_known;
    pthread_mutex_unlock(&sk_proc.lock);
    return op;
}

void sk_persist_waited(sk_op *op)
{
    SK_ASSERT(op->persistent && op->started);
    op->started = false;
    atomic_fetch_sub(&sk_proc.persist_started, 1);
}

/* A started one goes on; whoever lets go of it last frees it. */
void sk_persist_free(sk_op *op)
{
    pthread_mutex_lock(&sk_proc.lock);
    sk_op **at = &sk_proc.persistent[SK_HANDLE_INDEX(op->handle)];
    while (*at != op)
        at = &(*at)->next_known;
    *at = op->next_known;
    atomic_fetch_sub(&sk_proc.persist_known, 1);
    pthread_mutex_unlock(&sk_proc.lock);
    sk_host.Request_free(&op->handle);
    if (op->started) {
        atomic_fetch_sub(&sk_proc.persist_started, 1);
        MPI_Request work = op->work;
        sk_host.Request_free(&work);
    }
    release(op);
    if (atomic_load_explicit(&sk_proc.ndeferred, memory_order_relaxed))
        free_deferred();
}

/* ---- types and operations that the user frees too early for us ---- */

static bool uses(const sk_op *op, const sk_deferred_free *l)
{
    if (l->is_op)
        return op->wire.op == l->op;
    for (uint32_t i = 1; i < op->ntypes; i++)
        if (op->wire.handles[i] == l->type)
            return true;
    return false;
}

/* The lock is held. */
static bool needed(const sk_deferred_free *l)
{
    for (const sk_op *op = sk_proc.active; op; op = op->next)
        if (uses(op, l))
            return true;
    for (int i = 0; i < SK_SLOTS; i++)
        for (const sk_op *op = sk_proc.persistent[i]; op; op = op->next_known)
            if (uses(op, l))
                return true;
    return false;
}

static bool defer(sk_deferred_free what)
{
    if (!atomic_load(&sk_proc.inflight) && !atomic_load(&sk_proc.persist_known))
        return false;
    pthread_mutex_lock(&sk_proc.lock);
    sk_deferred_free *l = needed(&what) ? malloc(sizeof *l) : NULL;
    if (l) {
        *l = what;
        l->next = sk_proc.deferred;
        sk_proc.deferred = l;
        atomic_fetch_add(&sk_proc.ndeferred, 1);
    }
    pthread_mutex_unlock(&sk_proc.lock);
    return l != NULL;
}

bool sk_defer_type_free(MPI_Datatype type)
{
    return defer((sk_deferred_free){.type = type});
}

bool sk_defer_op_free(MPI_Op op)
{
    return defer((sk_deferred_free){.is_op = true, .op = op});
}

static void free_deferred(void)
{
    sk_deferred_free *unused = NULL;
    pthread_mutex_lock(&sk_proc.lock);
    for (sk_deferred_free **at = &sk_proc.deferred, *l; (l = *at);) {
        if (needed(l)) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        atomic_fetch_sub(&sk_proc.ndeferred, 1);
        l->next = unused;
        unused = l;
    }
    pthread_mutex_unlock(&sk_proc.lock);
    for (sk_deferred_free *l = unused, *next; l; l = next) {
        next = l->next;
        if (l->is_op)
            sk_host.Op_free(&l->op);
        else
            sk_host.Type_free(&l->type);
        free(l);
    }
}
