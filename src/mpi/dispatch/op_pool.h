/* op_pool.h: operations, which are made once, with their handles, and used again. */
#ifndef SK_OP_POOL_H
#define SK_OP_POOL_H

#include "mpi/dispatch/request.h"

/* One that nobody uses, or a new one. The process lock is held. NULL: out of memory. */
sk_op *sk_op_take(void);

static inline void sk_op_hold(sk_op *op)
{
    atomic_fetch_add_explicit(&op->users, 1, memory_order_relaxed);
}

void sk_op_release(sk_op *op); /* the last user puts it back */

/* At least so many bytes at op->memory, aligned to 64. */
bool sk_op_have_memory(sk_op *op, size_t bytes);

void sk_op_pool_free(void); /* at the end: frees the handles */

#endif
