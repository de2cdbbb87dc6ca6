/* at_once.c: collectives that outlive their call and yet run in it as far as they can, with as few instructions
 * as possible: if the other ranks have come, they are over when it returns. */
#include <string.h>

#include "mpi/dispatch/op_pool.h"
#include "mpi/dispatch/request_inner.h"
#include "mpi/state/host_progress.h"
#include "mpi/transport/one_epoch.h"
#include "mpi/transport/shm_wire.h"

/* No other thread is to look at the collective before it is started. */
static void lock_from_others(void)
{
    if (sk_proc.threads)
        pthread_mutex_lock(&sk_proc.lock);
}

static void unlock_for_others(void)
{
    if (sk_proc.threads)
        pthread_mutex_unlock(&sk_proc.lock);
}

sk_op *sk_op_nothing(sk_comm *c, sk_plan *plan, sk_report_counter *counter)
{
    lock_from_others();
    sk_op *op = sk_op_take();
    if (!op) {
        unlock_for_others();
        return NULL;
    }
    op->lane = (int)(c->next_lane++ % SK_SHM_LANES); /* all ranks must count alike */
    sk_comm_tag(c);
    atomic_store_explicit(&op->users, 1, memory_order_relaxed);
    op->error = op->wire.error = MPI_SUCCESS;
    op->owned = op->work_made = false;
    op->run.status = SK_OK;
    atomic_store_explicit(&op->state, SK_OP_OVER, memory_order_release);
    unlock_for_others();
    sk_process_add(&sk_proc.pending, 1);
    sk_count_served(plan, counter, 0, NULL);
    return op;
}

#if SK_HAVE_SHM

/* It goes on when others have come: as sk_op_new and sk_op_start would have left it. */
static bool keep_running(sk_op *op, sk_comm *c, sk_plan *plan, const sk_run *run)
{
    const sk_mpi_wire *wire = (const sk_mpi_wire *)run->wire;
    size_t types = run->sched->ntypes * sizeof(MPI_Datatype);
    if (!sk_op_have_memory(op, (types + 63) & ~(size_t)63))
        return false;
    op->run = *run;
    op->wire = *wire;
    op->run.wire = &op->wire.base;
    op->wire.handles = memcpy(op->memory, wire->handles, types);
    op->ntypes = run->sched->ntypes;
    op->plan = plan;
    sk_plan_hold(plan);
    op->comm = c;
    sk_comm_hold(c);
    sk_op_hold(op);
    sk_op_enter_lane(op);
    op->begun = true;
    sk_op_link_active(op);
    return true;
}

void sk_op_start_at_once(sk_op *op)
{
    op->wire.error = MPI_SUCCESS;
    op->owned = op->work_made = false;
    if (sk_proc.reporting)
        op->since = sk_clock();
    sk_op_init_run(op);
    lock_from_others();
    bool over = sk_one_epoch_begin(&op->run) != SK_AGAIN;
    if (!over) {
        sk_op_hold(op);
        sk_op_link_active(op);
    }
    atomic_store_explicit(&op->state, over ? SK_OP_OVER : SK_OP_ACTIVE, memory_order_release);
    unlock_for_others();
    sk_process_add(&sk_proc.pending, 1);
    if (over)
        sk_count_served(op->plan, op->counter, op->since, NULL);
}

sk_op *sk_op_at_once(sk_comm *c, sk_plan *plan, sk_report_counter *counter, sk_mpi_wire *wire,
                     bool one_epoch, void *send, void *recv)
{
    int lane = (int)(c->next_lane % SK_SHM_LANES);
    sk_shm *shm = c->lane_capacity ? c->lease->lane[lane] : NULL;
    if (!shm)
        return NULL;
    lock_from_others();
    sk_op *op = c->lane_first[lane] ? NULL : sk_op_take();
    if (!op) {
        unlock_for_others();
        return NULL;
    }
    c->next_lane++;
    wire->shm = shm;
    wire->tag = sk_comm_tag(c);
    wire->error = MPI_SUCCESS;
    sk_run run = {.sched = sk_sched_view(plan->sched), .wire = &wire->base, .buf = {send, recv}};
    atomic_store_explicit(&op->users, 1, memory_order_relaxed);
    op->error = MPI_SUCCESS;
    op->lane = lane;
    op->owned = op->work_made = false;
    if (sk_proc.reporting)
        op->since = sk_clock();
    if (!one_epoch)
        sk_mpi_wire_begin(wire);
    bool over =
        (one_epoch ? sk_one_epoch_begin(&run) : sk_shm_wire_straight_poll(&run)) != SK_AGAIN;
    if (over) {
        op->run.status = run.status;
        op->wire.error = wire->error;
    } else if (!keep_running(op, c, plan, &run))
        sk_host.Abort(c->user, MPI_ERR_NO_MEM); /* the others wait for it */
    atomic_store_explicit(&op->state, over ? SK_OP_OVER : SK_OP_ACTIVE, memory_order_release);
    unlock_for_others();
    sk_process_add(&sk_proc.pending, 1);
    if (over)
        sk_count_served(plan, counter, op->since, NULL);
    c->had_nonblocking = true;
    sk_host_hook_install();
    return op;
}

#else

void sk_op_start_at_once(sk_op *op)
{
    (void)op;
}

sk_op *sk_op_at_once(sk_comm *c, sk_plan *plan, sk_report_counter *counter, sk_mpi_wire *wire,
                     bool one_epoch, void *send, void *recv)
{
    (void)c, (void)plan, (void)counter, (void)wire, (void)one_epoch, (void)send, (void)recv;
    return NULL;
}

#endif
