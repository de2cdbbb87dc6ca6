/* op_face.c: the plan that a request is served by, and Skein's other algorithm for a persistent one. */
#include "mpi/dispatch/request_inner.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/dispatch/op_pool.h"
#include "mpi/state/world.h"
#include "mpi/transport/one_epoch.h"
#include "mpi/transport/shm_wire.h"

/* A part of the memory of an op. */
static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

bool sk_op_set_plan(sk_op *op, sk_comm *c, const sk_mpi_call *call, sk_plan *plan)
{
    const struct sk_sched_view *v = sk_sched_view(plan->sched);
    size_t scratch = aligned((size_t)v->scratch);
    size_t packets = (size_t)sk_run_packet_bytes(plan->sched);
    size_t types = v->ntypes * sizeof(MPI_Datatype);
    size_t arrays = v->max_transfers ? aligned(sk_mpi_wire_bytes(v->max_transfers)) : 0;
    if (!sk_op_have_memory(op, aligned(scratch + packets + arrays + types)))
        return false;
    char *memory = op->memory;
    op->scratch = memory;
    op->packets = memory + scratch;
    op->ntypes = v->ntypes;
    op->wire.types = v->types;
    op->wire.handles = memcpy(memory + scratch + packets + arrays, call->handles, types);
    op->wire.exact = sk_mpi_wire_exact(plan->algo->coll);
    if (sk_hint_wanted())
        op->wire.hint = sk_hint_of(plan->algo->coll, plan->bytes, c->nranks, op->wire.hint.call);
    if (v->max_transfers)
        sk_mpi_wire_set_arrays(&op->wire, memory + scratch + packets, v->max_transfers);
    if (v->nepochs)
        sk_mpi_wire_shm(&op->wire, op->persistent ? op->own_lane.shm : c->lease->lane[op->lane],
                        c->machine, v, plan->signature ^ call->unequal);
    op->plan = plan;
    return true;
}

void sk_op_see_if_at_once(sk_op *op)
{
    op->at_once = op->own_lane.shm && !op->error && !op->staging &&
                  sk_one_epoch_fits(sk_sched_view(op->plan->sched), &op->wire);
    if (op->at_once)
        op->counter = sk_report_counter_of(sk_proc.report, op->plan->algo_index, op->plan->size);
}

/* ---- persistent: two algorithms ---- */

static void exchange_faces(sk_op *op, sk_op_face *face)
{
    sk_op_face now = {.plan = op->plan,
                      .counter = op->counter,
                      .ntypes = op->ntypes,
                      .at_once = op->at_once,
                      .scratch = op->scratch,
                      .packets = op->packets,
                      .memory = op->memory,
                      .memory_size = op->memory_size,
                      .wire = op->wire};
    op->plan = face->plan;
    op->counter = face->counter;
    op->ntypes = face->ntypes;
    op->at_once = face->at_once;
    op->scratch = face->scratch;
    op->packets = face->packets;
    op->memory = face->memory;
    op->memory_size = face->memory_size;
    op->wire = face->wire;
    *face = now;
}

bool sk_op_add_other(sk_op *op, const sk_mpi_call *call, sk_plan *plan)
{
    sk_op_face *first = op->face = calloc(1, sizeof *first);
    if (!first)
        return false;
    pthread_mutex_lock(&sk_proc.lock); /* others look at the handles */
    exchange_faces(op, first);
    op->wire = (sk_mpi_wire){.base.ops = first->wire.base.ops,
                             .comm = first->wire.comm,
                             .peers = first->wire.peers,
                             .op = first->wire.op,
                             .kernel = first->wire.kernel,
                             .tag = first->wire.tag};
    bool made = sk_op_set_plan(op, op->comm, call, plan);
    if (made) {
        sk_plan_hold(plan);
        sk_op_see_if_at_once(op);
    }
    exchange_faces(op, first);
    pthread_mutex_unlock(&sk_proc.lock);
    return made;
}

void sk_op_use_other(sk_op *op, bool other)
{
    if (!op->face || op->other == other)
        return;
    pthread_mutex_lock(&sk_proc.lock);
    exchange_faces(op, op->face);
    pthread_mutex_unlock(&sk_proc.lock);
    op->other = other;
}
