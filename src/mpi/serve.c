/* serve.c: from the arguments to a running schedule. */
#include "mpi/serve.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/hint.h"
#include "mpi/hook.h"
#include "mpi/node.h"
#include "mpi/recent.h"
#include "mpi/request.h"
#include "mpi/topo.h"

__attribute__((noinline)) static void advise(const sk_args *a, const sk_comm *c)
{
    int64_t most = a->scount > a->rcount ? a->scount : a->rcount; /* for want of bytes */
    sk_hint_advise(sk_hint_of(a->coll, most, c ? c->nranks : 0, sk_process_call()));
}

static bool to_host(const sk_args *a, const sk_comm *c, sk_host_reason why)
{
    if (sk_hint_wanted())
        advise(a, c);
    sk_report_host(sk_proc.report, a->coll, why);
    return false;
}

/* All ranks leave this call to the host. If it blocks there, what is under way makes no progress.
 */
static bool left_to_host(const sk_args *a, sk_form form, sk_comm *c, sk_host_reason why)
{
    if (form == SK_BLOCKING && c->outlived)
        sk_meet(c);
    return to_host(a, c, why);
}

static int next_persist_tag(sk_comm *c)
{
    int tag = (int)(sk_proc.tags + c->next_persist_tag++);
    if (c->next_persist_tag == sk_proc.tags)
        c->next_persist_tag = 0;
    return tag;
}

static void count_plans(sk_comm *c)
{
    sk_plans_stats now = sk_plans_count(c->plans);
    if (now.built != c->counted.built) {
        sk_report_plans(sk_proc.report, now.built - c->counted.built,
                        now.evicted - c->counted.evicted);
        c->counted = now;
    }
}

static sk_hint hint_of(const sk_comm *c, const sk_plan *plan, uint32_t call)
{
    return sk_hint_of(plan->algo->coll, plan->bytes, c->nranks, call);
}

/* Everything a run needs, in one block of memory. */
static bool fit_op(sk_op *op, const sk_comm *c, const sk_asked *asked, sk_plan *plan)
{
    const struct sk_sched_view *v = sk_sched_view(plan->sched);
    size_t scratch = ((size_t)v->scratch + 63) & ~(size_t)63;
    size_t packets = (size_t)sk_run_packet_bytes(plan->sched);
    size_t handles = v->ntypes * sizeof(MPI_Datatype);
    size_t arrays = (sk_mpi_wire_bytes(v->max_transfers) + 63) & ~(size_t)63;
    char *room = aligned_alloc(64, (scratch + packets + arrays + handles + 63) & ~(size_t)63);
    if (!room)
        return false;
    op->memory = op->scratch = room;
    op->packets = room + scratch;
    MPI_Datatype *types = (MPI_Datatype *)(room + scratch + packets + arrays);
    memcpy(types, asked->handles, handles);
    op->ntypes = v->ntypes;
    op->wire.types = v->types;
    op->wire.handles = types;
    op->wire.hint = hint_of(c, plan, op->wire.hint.call);
    sk_mpi_wire_room(&op->wire, room + scratch + packets, v->max_transfers);
    sk_plan_hold(plan);
    op->plan = plan;
    return true;
}

/* A collective that outlives the call. With no plan yet, a copy of what was asked is kept, and the
 * plan made when the communicator's set-up is over. */
static sk_op *new_op(sk_comm *c, const sk_asked *asked, MPI_Op mpi_op, sk_plan *plan)
{
    sk_op *op = calloc(1, sizeof *op);
    if (!op)
        return NULL;
    op->send = asked->send;
    op->recv = asked->recv;
    op->wire = (sk_mpi_wire){
        .base.ops = &sk_mpi_wire_ops, .comm = MPI_COMM_NULL, .op = mpi_op, .kernel = asked->kernel};
    if (plan ? !fit_op(op, c, asked, plan) : !(op->asked = sk_asked_copy(asked))) {
        free(op);
        return NULL;
    }
    if (op->asked) {
        op->wire.handles = op->asked->handles;
        op->ntypes = asked->call.ntypes;
        op->setup = c->topo->wanted;
        pthread_mutex_lock(&sk_proc.lock);
        c->topo->waiting[op->setup % SK_SETUPS]++;
        pthread_mutex_unlock(&sk_proc.lock);
    }
    op->comm = c;
    sk_comm_hold(c);
    return op;
}

sk_status sk_op_plan(sk_op *op)
{
    sk_comm *c = op->comm;
    sk_plan *plan;
    sk_status st = sk_topo_poll(c->topo, c, op->setup, false);
    if (st == SK_AGAIN)
        return st;
    sk_asked *asked = op->asked;
    c->topo->waiting[op->setup % SK_SETUPS]--;
    op->asked = NULL;
    if (st == SK_OK)
        st = sk_plans_get(c->plans, sk_proc.select, &asked->call, &plan);
    if (st == SK_OK)
        st = !plan->algo ? SK_BADARG : fit_op(op, c, asked, plan) ? SK_OK : SK_NOMEM;
    count_plans(c);
    if (st != SK_OK)
        op->ntypes = 0;
    free(asked);
    return st;
}

static int start(sk_comm *c, const sk_asked *asked, MPI_Op mpi_op, sk_plan *plan, sk_form form,
                 MPI_Request *request)
{
    c->outlived = true;
    sk_hook_in();
    sk_op *op = new_op(c, asked, mpi_op, plan);
    if (!op)
        return MPI_ERR_NO_MEM;
    int rc;
    if (form == SK_PERSISTENT) {
        op->wire.tag = next_persist_tag(c);
        rc = sk_comm_wait_wired(c) ? sk_persist_add(op) : MPI_ERR_OTHER;
    } else {
        op->wire.tag = sk_comm_tag(c);
        rc = sk_op_start(op);
    }
    if (rc != MPI_SUCCESS) {
        if (op->asked) {
            pthread_mutex_lock(&sk_proc.lock);
            c->topo->waiting[op->setup % SK_SETUPS]--;
            pthread_mutex_unlock(&sk_proc.lock);
        }
        sk_op_free(op);
        return rc;
    }
    *request = form == SK_PERSISTENT ? op->handle : op->work;
    return MPI_SUCCESS;
}

static int start_later(sk_comm *c, const sk_asked *asked, MPI_Op mpi_op, sk_plan *plan,
                       sk_form form, MPI_Request *request)
{
    int rc = start(c, asked, mpi_op, plan, form, request);
    return rc == MPI_SUCCESS ? rc : sk_raise(c, rc);
}

static void want_setup(sk_topo *t, sk_comm *c)
{
    int tag = sk_comm_tag(c);
    for (int i = 1; i < SK_SETUP_TAGS; i++)
        sk_comm_tag(c);
    sk_topo_want(t, tag);
}

/* Neighbourhood collectives: see to it that the ranks compare notes when it is time. A blocking or
 * persistent call waits for that, a nonblocking one must not. True: the call may be planned. */
static bool settle_hood(const sk_args *a, sk_comm *c, sk_form form, sk_asked *asked, sk_status *st)
{
    sk_topo *t = c->topo;
    bool due = sk_topo_due(t, c);
    if (due) {
        if (!sk_args_read(a, c, asked)) {
            t->calls--;
            return true; /* the host will say what is wrong */
        }
    }
    pthread_mutex_lock(&sk_proc.lock);
    if (due) {
        sk_topo_note(t, &asked->call);
        want_setup(t, c);
    }
    bool busy = sk_topo_busy(t);
    pthread_mutex_unlock(&sk_proc.lock);
    t->calm = !busy; /* until a call asks for the next one */
    if (!busy)
        return true;
    if (form == SK_NONBLOCKING)
        return false;
    *st = sk_topo_wait(t, c);
    return true;
}

static double now(void)
{
    return sk_proc.reporting ? PMPI_Wtime() : 0;
}

/* The call is planned: run it, or start what outlives it. */
static int serve_ready(const sk_args *a, sk_form form, sk_comm *c, sk_ready *x,
                       MPI_Request *request, double since)
{
    void *send = (void *)(uintptr_t)a->sbuf;
    if (form == SK_BLOCKING)
        return sk_ready_run(x, c, send, a->rbuf, since);
    const sk_asked asked = {
        .handles = x->wire.handles, .kernel = x->wire.kernel, .send = send, .recv = a->rbuf};
    return start_later(c, &asked, a->op, x->plan, form, request);
}

static bool may_be_plain(const sk_args *a, sk_form form, const sk_comm *c, const sk_plan *plan)
{
    return plan->plain && form == SK_BLOCKING && !c->outlived && !c->topo->lonely &&
           sk_topo_host_may(c->topo, a->coll);
}

/* With everything that has to be seen to before a call can be planned. */
static bool serve_anew(sk_args *a, sk_form form, sk_comm *c, MPI_Request *request, int *rc)
{
    bool neighbor = sk_coll_neighbor(a->coll);
    if (!c->inter)
        sk_node_count(c, form == SK_BLOCKING);
    if (c->left >> a->coll & 1 && form == SK_BLOCKING && !c->outlived)
        return to_host(a, c, SK_HOST_SAME);
    if (c->inter)
        return to_host(a, c, SK_HOST_INTER);
    if (!sk_proc.serves[a->coll])
        return left_to_host(a, form, c, SK_HOST_OFF);
    if (neighbor && !sk_topo_get(c))
        return to_host(a, c, SK_HOST_ARGS);
    if (form == SK_NONBLOCKING && !sk_comm_may_fly(c))
        return to_host(a, c, SK_HOST_EARLY);
    sk_args_significant(a, c);
    a->alone = form != SK_BLOCKING;
    double since = now();
    sk_asked asked;
    sk_status st = SK_OK;
    if (neighbor && !settle_hood(a, c, form, &asked, &st)) {
        if (!sk_args_read(a, c, &asked))
            return to_host(a, c, SK_HOST_ARGS);
        *rc = start_later(c, &asked, a->op, NULL, form, request);
        return true;
    }
    sk_ready *x = st == SK_OK ? sk_recent_find(a, c) : NULL, made;
    if (!x) {
        sk_plan *plan;
        if (st == SK_OK && !sk_args_read(a, c, &asked))
            return to_host(a, c, SK_HOST_ARGS);
        if (st == SK_OK && neighbor)
            sk_topo_note(c->topo, &asked.call);
        if (st == SK_OK)
            st = sk_plans_get(c->plans, sk_proc.select, &asked.call, &plan);
        count_plans(c);
        if (st != SK_OK) {
            *rc = sk_raise(c, st == SK_NOMEM ? MPI_ERR_NO_MEM : MPI_ERR_INTERN);
            return true;
        }
        if (!plan->algo)
            return left_to_host(a, form, c, SK_HOST_NOFIT);
        x = sk_recent_add(a, c, &asked, plan);
        if (!x)
            sk_ready_make(x = &made, c, &asked, a->op, plan);
    }
    if (may_be_plain(a, form, c, x->plan))
        return to_host(a, c, SK_HOST_SAME);
    *rc = serve_ready(a, form, c, x, request, since);
    return true;
}

/* A call just like one before, with nothing to see to before it. */
static sk_ready *ready_for(sk_args *a, sk_comm *c)
{
    sk_topo *t = sk_coll_neighbor(a->coll) ? c->topo : NULL;
    if (t && (!t->calm || !sk_topo_may_count(t) || c->left))
        return NULL;
    sk_args_significant(a, c);
    sk_ready *x = sk_recent_find(a, c);
    if (!t || !x)
        return x;
    if (x->plan->plain)
        return NULL;
    t->calls++;
    return x;
}

bool sk_serve(sk_args *a, sk_form form, MPI_Request *request, int *rc)
{
    sk_comm *c = sk_comm_known(a->comm);
    if (!c) {
        if (!sk_process_ready())
            return false;
        c = sk_comm_find(a->comm);
        if (!c)
            return to_host(a, c, SK_HOST_ARGS);
    } else if (form == SK_BLOCKING && c->recent) {
        double since = now();
        sk_ready *x = ready_for(a, c);
        if (x) {
            *rc = sk_ready_run(x, c, (void *)(uintptr_t)a->sbuf, a->rbuf, since);
            return true;
        }
    }
    return serve_anew(a, form, c, request, rc);
}

static bool eager(MPI_Info info)
{
    char value[8] = "";
    int found = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, "skein_plan", (int)sizeof value - 1, value, &found);
    const char *set = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_PLAN);
    return strcmp(found ? value : set, "eager") == 0;
}

void sk_plan_ahead(MPI_Comm comm, MPI_Info info)
{
    if (comm == MPI_COMM_NULL || !sk_process_ready() || !sk_proc.plans || !eager(info))
        return;
    sk_comm *c = sk_comm_get(comm);
    sk_topo *t = c && c->nranks > 1 ? sk_topo_get(c) : NULL;
    if (!t)
        return;
    t->assumed = true;
    want_setup(t, c);
    sk_status st = sk_topo_wait(t, c);
    t->assumed = false;
    if (st != SK_OK)
        sk_raise(c, st == SK_NOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER);
}
