#include "mpi/dispatch/op_pool.h"

#include <stdlib.h>

#include "base/assert.h"
#include "mpi/dispatch/staging.h"
#include "mpi/state/world.h"

static void free_face(sk_op *op)
{
    if (!op->face)
        return;
    sk_plan_release(op->face->plan);
    free(op->face->memory);
    free(op->face);
    op->face = NULL;
    op->other = false;
}

static void let_go(sk_op *op)
{
    sk_plan_release(op->plan);
    free_face(op);
    if (op->own_lane.shm)
        sk_own_lane_end(sk_proc.world->leases, &op->own_lane);
    if (op->comm)
        sk_comm_release(op->comm);
    if (op->staging)
        sk_staging_free(op->staging);
    free(op->call);
    sk_persist_free(op->persist);
    op->persist = NULL;
    op->by_host = op->agreeing = op->linked = false;
    op->plan = NULL;
    op->comm = NULL;
    op->staging = NULL;
    op->call = NULL;
}

/* One that nobody uses gives back what it holds. Its memory stays, unless it is large. Any thread may
 * put one into the pool, also inside the host; they are taken under the process lock. */
static void put_back(sk_op *op)
{
    enum { MOST_KEPT = 64 << 10 };
    if (op->plan || op->call || op->comm || op->staging)
        let_go(op);
    if (op->memory_size > MOST_KEPT) {
        free(op->memory);
        op->memory = NULL;
        op->memory_size = 0;
    }
    op->persistent = false;
    atomic_store_explicit(&op->state, SK_OP_IDLE, memory_order_relaxed);
    op->pool_next = atomic_load_explicit(&sk_proc.op_pool, memory_order_relaxed);
    if (!sk_proc.threads) {
        atomic_store_explicit(&sk_proc.op_pool, op, memory_order_relaxed);
        return;
    }
    while (!atomic_compare_exchange_weak_explicit(&sk_proc.op_pool, &op->pool_next, op,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

void sk_op_release(sk_op *op)
{
    SK_ASSERT(atomic_load(&op->users) > 0);
    if (!sk_proc.threads)
        sk_process_add(&op->users, -1);
    if (sk_proc.threads ? atomic_fetch_sub_explicit(&op->users, 1, memory_order_acq_rel) == 1
                        : !atomic_load_explicit(&op->users, memory_order_relaxed))
        put_back(op);
}

/* A new one, which other threads find by its handle from now on. The process lock is held. */
static sk_op *make_op(void)
{
    sk_op *op = calloc(1, sizeof *op);
    if (!op)
        return NULL;
    if (sk_host.Recv_init(NULL, 0, MPI_BYTE, 0, 0, sk_proc.self, &op->handle) != MPI_SUCCESS) {
        free(op);
        return NULL;
    }
    _Atomic(sk_op *) *list = &sk_proc.ops[SK_HANDLE_INDEX(op->handle)];
    op->next_known = atomic_load_explicit(list, memory_order_relaxed);
    atomic_store_explicit(list, op, memory_order_release);
    return op;
}

/* Others may put ops in meanwhile, but only this thread takes one. */
sk_op *sk_op_take(void)
{
    sk_op *op = atomic_load_explicit(&sk_proc.op_pool, memory_order_acquire);
    if (op && !sk_proc.threads) {
        atomic_store_explicit(&sk_proc.op_pool, op->pool_next, memory_order_relaxed);
        return op;
    }
    while (op && !atomic_compare_exchange_weak_explicit(&sk_proc.op_pool, &op, op->pool_next,
                                                        memory_order_acquire, memory_order_acquire))
        ;
    return op ? op : make_op();
}

void sk_op_pool_free(void)
{
    for (int i = 0; i < SK_SLOTS; i++) {
        for (sk_op *op = atomic_exchange(&sk_proc.ops[i], NULL), *next; op; op = next) {
            next = op->next_known;
            sk_host.Request_free(&op->handle);
            if (!atomic_load(&op->users)) { /* else the program ends with an active collective */
                free(op->memory);
                free(op);
            }
        }
    }
    atomic_store(&sk_proc.op_pool, NULL);
}

bool sk_op_have_memory(sk_op *op, size_t bytes)
{
    if (op->memory_size >= bytes)
        return true;
    free(op->memory);
    op->memory = aligned_alloc(64, bytes);
    op->memory_size = op->memory ? bytes : 0;
    return op->memory != NULL;
}
