#include "mpi/dispatch/descriptor.h"

#include "exec/run.h"
#include "mpi/dispatch/mend.h"
#include "mpi/dispatch/request.h"
#include "mpi/transport/shm_wire.h"

void sk_descriptor_init(sk_descriptor *x, const sk_comm *c, const sk_mpi_call *call, MPI_Op op,
                        sk_plan *plan)
{
    const struct sk_sched_view *v = sk_sched_view(plan->sched);
    *x = (sk_descriptor){.plan = plan,
                         .scratch = ((size_t)v->scratch + 63) & ~(size_t)63,
                         .packets = (size_t)sk_run_packet_bytes(plan->sched),
                         .sched = v,
                         .counter =
                             sk_report_counter_of(sk_proc.report, plan->algo_index, plan->size),
                         .wire = {.base.ops = &sk_mpi_wire_ops,
                                  .comm = sk_comm_wire(c),
                                  .peers = c->peers,
                                  .op = op,
                                  .types = v->types,
                                  .handles = call->handles,
                                  .kernel = call->kernel,
                                  .exact = sk_mpi_wire_exact(plan->algo->coll)}};
    if (x->scratch | x->packets | v->max_transfers)
        x->bytes = x->scratch + x->packets + sk_mpi_wire_bytes(v->max_transfers);
    if (v->nepochs)
        sk_mpi_wire_shm(&x->wire, c->shm, c->machine, v, plan->signature);
    x->one_epoch = sk_one_epoch_fits(v, &x->wire);
    x->nothing = !v->nsteps && !v->nepochs;
    x->mends = sk_mend_needed(&call->call);
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
    case SK_NOMEM:
        return MPI_ERR_NO_MEM;
    default:
        return MPI_ERR_INTERN;
    }
}

/* The communicator's scratch, which may have moved since the last run. */
static char *get_scratch(sk_descriptor *x, sk_comm *c)
{
    char *scratch = sk_comm_scratch(&c->scratch, &c->scratch_size, x->bytes);
    if (scratch)
        sk_mpi_wire_set_arrays(&x->wire, scratch + x->scratch + x->packets,
                               x->sched->max_transfers);
    return scratch;
}

int sk_descriptor_failed(const sk_descriptor *x, sk_comm *c, sk_status st)
{
    c->failed = true;
    return sk_raise(c, result_of(st, &x->wire));
}

static sk_status run(sk_descriptor *x, sk_comm *c, void *send, void *recv)
{
    sk_mpi_wire *w = &x->wire;
    char *scratch = NULL;
    w->tag = sk_comm_tag(c); /* needed or not: all ranks must count alike */
    w->error = MPI_SUCCESS;
    if (sk_hint_wanted())
        w->hint = sk_hint_of(x->plan->algo->coll, x->plan->bytes, c->nranks, sk_process_call());
    if (x->bytes && !(scratch = get_scratch(x, c)))
        return SK_NOMEM;
    if (x->sched->straight) { /* without packets */
        sk_run run = {.sched = x->sched, .wire = &w->base, .buf = {send, recv, scratch}};
        sk_mpi_wire_begin(w);
        return sk_shm_wire_straight(&run);
    }
    sk_run run;
    sk_run_init(&run, x->plan->sched, &w->base, send, recv, scratch, scratch + x->scratch);
    if (w->shm)
        sk_mpi_wire_begin(w);
    return sk_run_wait(&run);
}

int sk_descriptor_run(sk_descriptor *x, sk_comm *c, void *send, void *recv, double since)
{
    if (x->one_epoch)
        return sk_descriptor_run_epoch(x, c, send, recv, since);
    sk_status st = run(x, c, send, recv);
    sk_count_served(x->plan, x->counter, since, c);
    return st == SK_OK ? MPI_SUCCESS : sk_descriptor_failed(x, c, st);
}
