#include "mpi/dispatch/starts.h"

#include "mpi/dispatch/guarded.h"
#include "mpi/dispatch/learn.h"
#include "mpi/state/world.h"

sk_starts sk_starts_of(const sk_args *a, sk_comm *c)
{
    sk_starts s = {.any = false};
    sk_mpi_call call;
    s.any = sk_guarded_persistent(c, a, &s.guard, &s.tuned);
    if (!s.any || !sk_guard_has(&s.guard, SK_GUARD_OTHER) || !sk_args_read(a, c, &call))
        return s;
    call.call.other = true;
    if (sk_comm_plan(c, &call.call, &s.other, NULL) != SK_OK || !s.other->algo)
        sk_host.Abort(c->user, MPI_ERR_NO_MEM); /* the others count */
    return s;
}

void sk_starts_compare(sk_args *a, sk_comm *c, const sk_starts *s, const sk_mpi_call *call,
                       const sk_plan *plan, sk_op *op)
{
    op->quiet = 0;
    op->persist = sk_persist_new(&s->guard, a->coll, plan->size, sk_comm_persist_tag(c));
    if (!op->persist || (s->other && !sk_op_add_other(op, call, s->other)))
        sk_host.Abort(c->user, MPI_ERR_NO_MEM); /* the others count */
    op->persist->tuned = s->tuned;
    op->persist->learn = sk_learn_about(c, a);
    if (sk_guard_has(&s->guard, SK_GUARD_HOST))
        a->also = op;
}
