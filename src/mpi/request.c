#include "mpi/request.h"

#include <stdlib.h>

/* Freed by the user, still needed by a collective under way. */
typedef struct sk_later {
    struct sk_later *next;
    bool is_op;
    MPI_Datatype type;
    MPI_Op op;
} sk_later;

int sk_raise(const sk_comm *c, int code)
{
    PMPI_Comm_call_errhandler(c->freed ? MPI_COMM_WORLD : c->user, code);
    return code;
}

/* ---- one collective ---- */

void sk_op_free(sk_op *op)
{
    sk_plan_release(op->plan);
    if (op->comm)
        sk_comm_release(op->comm);
    free(op->asked);
    free(op->memory);
    free(op);
}

static int query(void *state, MPI_Status *status)
{
    const sk_op *op = state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return op->run.status == SK_TRUNCATE ? MPI_ERR_TRUNCATE : op->wire.error;
}

static int release(void *state)
{
    sk_op *op = state;
    if (!op->persistent)
        sk_op_free(op);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS; /* the standard allows no cancelling of collectives */
}

static void init_run(sk_op *op)
{
    sk_run_init(&op->run, op->plan->sched, &op->wire.base, op->send, op->recv, op->scratch,
                op->packets);
}

/* One epoch; the process lock is held. */
static sk_status epoch(sk_op *op)
{
    if (op->asked) {
        sk_status st = sk_op_plan(op);
        if (st == SK_AGAIN)
            return st;
        if (st != SK_OK) {
            op->wire.error = st == SK_NOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
            return st;
        }
        init_run(op);
    }
    if (op->wire.comm == MPI_COMM_NULL) {
        sk_status st = sk_comm_wire(op->comm);
        if (st == SK_AGAIN)
            return st;
        if (st != SK_OK) {
            op->wire.error = MPI_ERR_OTHER;
            return st;
        }
        op->wire.comm = op->comm->nranks == 1 ? sk_proc.self : op->comm->wire;
    }
    return sk_run_poll(&op->run);
}

static void free_later(void);

/* The lock is not held: completing lets another thread free the collective. */
static void complete(sk_op *op)
{
    if (sk_proc.report && op->plan)
        sk_served(op->plan, sk_report_tally(sk_proc.report, op->plan->algo_index, op->plan->bytes),
                  op->since);
    MPI_Request work = op->work;
    bool dead = op->dead;
    sk_comm *c = op->persistent ? NULL : op->comm;
    if (c)
        op->comm = NULL;
    PMPI_Grequest_complete(work);
    if (c)
        sk_comm_release(c);
    if (dead)
        sk_op_free(op);
    if (atomic_load_explicit(&sk_proc.kept, memory_order_relaxed))
        free_later();
}

int sk_op_start(sk_op *op)
{
    int rc = PMPI_Grequest_start(query, release, cancel, op, &op->work);
    if (rc != MPI_SUCCESS)
        return rc;
    if (op->plan)
        init_run(op);
    op->wire.nreqs = 0;
    op->wire.error = MPI_SUCCESS;
    op->wire.hint.call = sk_process_call();
    op->started = true;
    if (sk_proc.reporting)
        op->since = PMPI_Wtime();

    pthread_mutex_lock(&sk_proc.lock);
    bool over = epoch(op) != SK_AGAIN;
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

/* Each epoch costs a look at the network, so with many under way not all have one each time. */
enum { EPOCHS = 4 };

void sk_progress(void)
{
    if (!atomic_load_explicit(&sk_proc.inflight, memory_order_relaxed) ||
        pthread_mutex_trylock(&sk_proc.lock) != 0)
        return;
    sk_hint outer = sk_hint_aside();
    sk_op *over = NULL, **over_end = &over, **at = &sk_proc.active, *op;
    for (int epochs = 0; epochs < EPOCHS && (op = *at); epochs++) {
        if (epoch(op) == SK_AGAIN) {
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
    if (*at && at != &sk_proc.active) { /* those who had an epoch go to the end */
        *sk_proc.active_end = sk_proc.active;
        sk_proc.active_end = at;
        sk_proc.active = *at;
        *at = NULL;
    }
    pthread_mutex_unlock(&sk_proc.lock);
    for (sk_op *op = over, *next; op; op = next) {
        next = op->next;
        complete(op);
        /* Only now: while a request is not complete, no thread may hand it to the host to wait for.
         */
        atomic_fetch_sub(&sk_proc.inflight, 1);
    }
    sk_hint_back(outer);
}

/* ---- persistent ones ---- */

int sk_persist_add(sk_op *op)
{
    int rc = PMPI_Recv_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &op->handle);
    if (rc != MPI_SUCCESS)
        return rc;
    op->persistent = true;
    sk_op **bucket = &sk_proc.persistent[SK_SLOT(op->handle)];
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
    sk_op *op = sk_proc.persistent[SK_SLOT(handle)];
    while (op && op->handle != handle)
        op = op->next_known;
    pthread_mutex_unlock(&sk_proc.lock);
    return op;
}

void sk_persist_waited(sk_op *op)
{
    op->started = false;
    atomic_fetch_sub(&sk_proc.persist_started, 1);
}

void sk_persist_free(sk_op *op)
{
    pthread_mutex_lock(&sk_proc.lock);
    sk_op **at = &sk_proc.persistent[SK_SLOT(op->handle)];
    while (*at != op)
        at = &(*at)->next_known;
    *at = op->next_known;
    atomic_fetch_sub(&sk_proc.persist_known, 1);
    bool active = false;
    for (sk_op *a = sk_proc.active; a; a = a->next)
        active |= a == op;
    if (op->started)
        atomic_fetch_sub(&sk_proc.persist_started, 1);
    op->dead = active;
    pthread_mutex_unlock(&sk_proc.lock);
    PMPI_Request_free(&op->handle);
    if (op->started) {
        MPI_Request work = op->work;
        PMPI_Request_free(&work);
    }
    if (!active)
        sk_op_free(op);
    if (atomic_load_explicit(&sk_proc.kept, memory_order_relaxed))
        free_later();
}

/* ---- what must outlive the user's free ---- */

static bool uses(const sk_op *op, const sk_later *l)
{
    if (l->is_op)
        return op->wire.op == l->op;
    for (uint32_t i = 1; i < op->ntypes; i++)
        if (op->wire.handles[i] == l->type)
            return true;
    return false;
}

/* The lock is held. */
static bool needed(const sk_later *l)
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

static bool keep(sk_later like)
{
    if (!atomic_load(&sk_proc.inflight) && !atomic_load(&sk_proc.persist_known))
        return false;
    pthread_mutex_lock(&sk_proc.lock);
    sk_later *l = needed(&like) ? malloc(sizeof *l) : NULL;
    if (l) {
        *l = like;
        l->next = sk_proc.later;
        sk_proc.later = l;
        atomic_fetch_add(&sk_proc.kept, 1);
    }
    pthread_mutex_unlock(&sk_proc.lock);
    return l != NULL;
}

bool sk_keep_type(MPI_Datatype type)
{
    return keep((sk_later){.type = type});
}

bool sk_keep_op(MPI_Op op)
{
    return keep((sk_later){.is_op = true, .op = op});
}

static void free_later(void)
{
    sk_later *over = NULL;
    pthread_mutex_lock(&sk_proc.lock);
    for (sk_later **at = &sk_proc.later, *l; (l = *at);) {
        if (needed(l)) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        atomic_fetch_sub(&sk_proc.kept, 1);
        l->next = over;
        over = l;
    }
    pthread_mutex_unlock(&sk_proc.lock);
    for (sk_later *l = over, *next; l; l = next) {
        next = l->next;
        if (l->is_op)
            PMPI_Op_free(&l->op);
        else
            PMPI_Type_free(&l->type);
        free(l);
    }
}
