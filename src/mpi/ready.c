#include "mpi/ready.h"

#include "exec/run.h"
#include "mpi/request.h"
#include "mpi/shm_wire.h"

void sk_ready_make(sk_ready *x, const sk_comm *c, const sk_asked *asked, MPI_Op op, sk_plan *plan)
{
    const struct sk_sched_view *v = sk_sched_view(plan->sched);
    *x = (sk_ready){.plan = plan,
                    .scratch = ((size_t)v->scratch + 63) & ~(size_t)63,
                    .packets = (size_t)sk_run_packet_bytes(plan->sched),
                    .sched = v,
                    .tally = sk_report_tally(sk_proc.report, plan->algo_index, plan->bytes),
                    .wire = {.base.ops = &sk_mpi_wire_ops,
                             .comm = MPI_COMM_NULL,
                             .op = op,
                             .types = v->types,
                             .handles = asked->handles,
                             .kernel = asked->kernel}};
    if (x->scratch | x->packets | v->max_transfers)
        x->room = x->scratch + x->packets + sk_mpi_wire_bytes(v->max_transfers);
    if (v->nturns)
        sk_mpi_wire_shm(&x->wire, c->shm, c->machine, v, plan->signature);
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

/* What the first run has to see to: also with nothing to do here, all ranks take part in the
 * duplicate. */
static bool get_wire(sk_ready *x, sk_comm *c)
{
    if (!sk_comm_wired(c) && !sk_comm_wait_wired(c))
        return false;
    x->wire.comm = c->nranks == 1 ? sk_proc.self : c->wire;
    return true;
}

/* The communicator's room, which may have moved since the last run. */
static char *get_room(sk_ready *x, sk_comm *c)
{
    char *room = sk_comm_room(&c->scratch, &c->scratch_size, x->room);
    if (room)
        sk_mpi_wire_room(&x->wire, room + x->scratch + x->packets, x->sched->max_transfers);
    return room;
}

static int run(sk_ready *x, sk_comm *c, void *send, void *recv)
{
    sk_mpi_wire *w = &x->wire;
    char *room = NULL;
    w->tag = sk_comm_tag(c); /* needed or not, all ranks count the same ones */
    w->error = MPI_SUCCESS;
    if (sk_hint_wanted())
        w->hint = sk_hint_of(x->plan->algo->coll, x->plan->bytes, c->nranks, sk_process_call());
    if (x->room && !(room = get_room(x, c)))
        return MPI_ERR_NO_MEM;
    if (w->comm == MPI_COMM_NULL && !get_wire(x, c))
        return MPI_ERR_OTHER;
    if (x->sched->straight) { /* which has no packets */
        sk_run run = {.sched = x->sched, .wire = &w->base, .buf = {send, recv, room}};
        return result_of(sk_shm_wire_straight(&run), w);
    }
    sk_run run;
    sk_run_init(&run, x->plan->sched, &w->base, send, recv, room, room + x->scratch);
    if (w->shm)
        sk_mpi_wire_begin(w);
    return result_of(sk_run_wait(&run), w);
}

int sk_ready_run(sk_ready *x, sk_comm *c, void *send, void *recv, double since)
{
    int rc = run(x, c, send, recv);
    sk_served(x->plan, x->tally, since);
    return rc == MPI_SUCCESS ? rc : sk_raise(c, rc);
}
