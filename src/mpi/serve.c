/* serve.c: from the arguments to a running schedule. */
#include "mpi/serve.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/hook.h"
#include "mpi/recent.h"
#include "mpi/request.h"

static bool to_host(const sk_args *a, sk_host_reason why)
{
    sk_report_host(sk_proc.report, a->coll, why);
    return false;
}

/* All ranks leave this call to the host. If it blocks there, what is under way makes no progress.
 */
static bool left_to_host(const sk_args *a, sk_form form, sk_comm *c, sk_host_reason why)
{
    if (form == SK_BLOCKING && c->outlived)
        sk_meet(c);
    return to_host(a, why);
}

static int next_tag(sk_comm *c)
{
    int tag = (int)c->next_tag++;
    if (c->next_tag == sk_proc.tags)
        c->next_tag = 0;
    return tag;
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

static int wire_comm(sk_comm *c, MPI_Comm *out)
{
    while (!sk_comm_wired(c)) {
        pthread_mutex_lock(&sk_proc.lock);
        sk_status st = sk_comm_wire(c);
        pthread_mutex_unlock(&sk_proc.lock);
        if (st != SK_OK && st != SK_AGAIN)
            return MPI_ERR_OTHER;
        if (st == SK_AGAIN) {
            sk_progress();
            sk_relax();
        }
    }
    *out = c->nranks == 1 ? sk_proc.self : c->wire;
    return MPI_SUCCESS;
}

static int result_of(sk_status st, const sk_mpi_wire *w)
{
    switch (st) {
    case SK_OK:
        return MPI_SUCCESS;
    case SK_WIRE:
        return w->error;
    case SK_TRUNCATE:
        return MPI_ERR_TRUNCATE;
    default:
        return MPI_ERR_INTERN;
    }
}

static int run_now(sk_comm *c, const sk_asked *asked, MPI_Op op, sk_plan *plan)
{
    /* Also with nothing to do here: all ranks take part in the duplicate and count the same tags.
     */
    const struct sk_sched_view *v = sk_sched_view(plan->sched);
    sk_mpi_wire w = {.base.ops = &sk_mpi_wire_ops,
                     .op = op,
                     .types = v->types,
                     .handles = asked->handles,
                     .tag = next_tag(c)};
    size_t scratch = ((size_t)v->scratch + 63) & ~(size_t)63;
    size_t packets = (size_t)sk_run_packet_bytes(plan->sched);
    char *room = sk_comm_room(&c->scratch, &c->scratch_size,
                              scratch + packets + sk_mpi_wire_bytes(v->max_transfers));
    if (!room)
        return MPI_ERR_NO_MEM;
    sk_mpi_wire_room(&w, room + scratch + packets, v->max_transfers);
    int rc = wire_comm(c, &w.comm);
    if (rc != MPI_SUCCESS)
        return rc;
    sk_run run;
    sk_run_init(&run, plan->sched, &w.base, asked->send, asked->recv, room, room + scratch);
    return result_of(sk_run_wait(&run), &w);
}

/* A collective that outlives the call: everything it needs in one block of memory. */
static sk_op *new_op(sk_comm *c, const sk_asked *asked, MPI_Op mpi_op, sk_plan *plan)
{
    const struct sk_sched_view *v = sk_sched_view(plan->sched);
    size_t scratch = ((size_t)v->scratch + 63) & ~(size_t)63;
    size_t packets = (size_t)sk_run_packet_bytes(plan->sched);
    size_t handles = v->ntypes * sizeof(MPI_Datatype);
    size_t arrays = (sk_mpi_wire_bytes(v->max_transfers) + 63) & ~(size_t)63;
    sk_op *op = calloc(1, sizeof *op);
    char *room = aligned_alloc(64, (scratch + packets + arrays + handles + 63) & ~(size_t)63);
    if (!op || !room) {
        free(op);
        free(room);
        return NULL;
    }
    *op = (sk_op){.comm = c,
                  .plan = plan,
                  .ntypes = v->ntypes,
                  .send = asked->send,
                  .recv = asked->recv,
                  .scratch = room,
                  .packets = room + scratch,
                  .memory = room};
    MPI_Datatype *types = (MPI_Datatype *)(room + scratch + packets + arrays);
    memcpy(types, asked->handles, handles);
    op->wire = (sk_mpi_wire){.base.ops = &sk_mpi_wire_ops,
                             .comm = MPI_COMM_NULL,
                             .op = mpi_op,
                             .types = v->types,
                             .handles = types};
    sk_mpi_wire_room(&op->wire, room + scratch + packets, v->max_transfers);
    sk_plan_hold(plan);
    sk_comm_hold(c);
    return op;
}

static int start_later(sk_comm *c, const sk_asked *asked, MPI_Op mpi_op, sk_plan *plan,
                       sk_form form, MPI_Request *request)
{
    c->outlived = true;
    sk_hook_in();
    sk_op *op = new_op(c, asked, mpi_op, plan);
    if (!op)
        return MPI_ERR_NO_MEM;
    int rc;
    if (form == SK_PERSISTENT) {
        op->wire.tag = next_persist_tag(c);
        rc = sk_persist_add(op);
    } else {
        op->wire.tag = next_tag(c);
        rc = sk_op_start(op);
    }
    if (rc != MPI_SUCCESS) {
        sk_op_free(op);
        return rc;
    }
    *request = form == SK_PERSISTENT ? op->handle : op->work;
    return MPI_SUCCESS;
}

bool sk_serve(sk_args *a, sk_form form, MPI_Request *request, int *rc)
{
    if (!sk_process_ready())
        return false;
    sk_comm *c = sk_comm_get(a->comm);
    if (!c)
        return to_host(a, SK_HOST_ARGS);
    if (c->inter)
        return to_host(a, SK_HOST_INTER);
    if (!sk_proc.serves[a->coll])
        return left_to_host(a, form, c, SK_HOST_OFF);
    sk_args_significant(a, c);
    double since = sk_proc.reporting ? PMPI_Wtime() : 0;
    sk_asked asked;
    sk_plan *plan = sk_recent_find(a, c, &asked);
    if (!plan) {
        if (!sk_args_read(a, c, &asked))
            return to_host(a, SK_HOST_ARGS);
        sk_status st = sk_plans_get(c->plans, sk_proc.select, &asked.call, &plan);
        count_plans(c);
        if (st != SK_OK) {
            *rc = sk_raise(c, st == SK_NOMEM ? MPI_ERR_NO_MEM : MPI_ERR_INTERN);
            return true;
        }
        if (!plan->algo)
            return left_to_host(a, form, c, SK_HOST_NOFIT);
        sk_recent_add(a, c, &asked, plan);
    }
    if (form == SK_BLOCKING) {
        *rc = run_now(c, &asked, a->op, plan);
        sk_report_served(sk_proc.report, plan->algo_index, plan->bytes,
                         sk_proc.reporting ? PMPI_Wtime() - since : 0);
    } else
        *rc = start_later(c, &asked, a->op, plan, form, request);
    if (*rc != MPI_SUCCESS)
        sk_raise(c, *rc);
    return true;
}
