#include "mpi/dispatch/deferred.h"

#include <errno.h>
#include <stdlib.h>

#include "mpi/dispatch/request.h"

/* Freed by the user, still needed by an active collective. */
typedef struct sk_deferred_free {
    struct sk_deferred_free *next;
    bool is_op;
    MPI_Datatype type;
    MPI_Op op;
} sk_deferred_free;

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
    for (const sk_op *op = sk_proc.persistent_first; op; op = op->persistent_next)
        if (uses(op, l))
            return true;
    return false;
}

/* An operation of the user may free what it has made, while this thread runs the collective that calls it and holds the
 * lock. */
static bool defer(sk_deferred_free what)
{
    if (!atomic_load(&sk_proc.inflight) && !atomic_load(&sk_proc.persistent))
        return false;
    bool held = pthread_mutex_lock(&sk_proc.lock) == EDEADLK;
    sk_deferred_free *l = needed(&what) ? malloc(sizeof *l) : NULL;
    if (l) {
        *l = what;
        l->next = sk_proc.deferred;
        sk_proc.deferred = l;
        atomic_fetch_add(&sk_proc.ndeferred, 1);
    }
    if (!held)
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

void sk_free_deferred(void)
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
