#include "mpi/dispatch/mend.h"

#include <string.h>

#include "mpi/dispatch/count.h"
#include "mpi/dispatch/guarded.h"

bool sk_mend_needed(const sk_call *call)
{
    if (call->coll == SK_ALLGATHERV)
        return SK_HOST_ALLGATHERV_BY_SENDER && !call->in_place &&
               call->types[call->send.type].size != call->types[call->recv.type].size;
    return call->coll == SK_REDUCE && !SK_HOST_REDUCES_IN_PLACE && call->in_place && call->root > 0;
}

/* In place, after this rank's block was put there. */
static int allgatherv(const sk_args *a, const sk_mpi_call *m, const sk_comm *c)
{
    int copied = sk_mpi_call_copy_own(m), rc;
#if SK_HAVE_LARGE
    if (a->wide)
        rc = sk_host.Allgatherv_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a->rbuf, a->rcounts,
                                  a->rdispls, a->rtype, a->comm);
    else
#endif
        rc = sk_host.Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a->rbuf, a->rcounts, a->rdispls,
                                a->rtype, a->comm);
    return rc == MPI_SUCCESS && copied != MPI_SUCCESS ? sk_raise(c, copied) : rc;
}

/* From a copy of all bytes between the first and the last of its elements. */
static int reduce(const sk_args *a, const sk_mpi_call *m, sk_comm *c)
{
    const sk_type *t = &m->call.types[m->call.send.type];
    int64_t last = a->scount > 0 ? (a->scount - 1) * t->extent : 0,
            lo = t->true_lb + (last < 0 ? last : 0),
            hi = t->true_lb + t->true_extent + (last > 0 ? last : 0);
    size_t bytes = a->scount > 0 ? (size_t)(hi - lo) : 0;
    char *copy = sk_comm_scratch(&c->scratch, &c->scratch_size, bytes + 1);
    if (!copy)
        sk_host.Abort(a->comm, MPI_ERR_NO_MEM); /* the others are in the call */
    if (bytes)
        memcpy(copy, (char *)a->rbuf + lo, bytes);
    copy -= lo;
#if SK_HAVE_LARGE
    if (a->wide)
        return sk_host.Reduce_c(copy, a->rbuf, a->scount, a->stype, a->op, a->root, a->comm);
#endif
    return sk_host.Reduce(copy, a->rbuf, (int)a->scount, a->stype, a->op, a->root, a->comm);
}

bool sk_mend_run(const sk_args *a, sk_comm *c, int *rc)
{
    sk_mpi_call m;
    if (!sk_args_read(a, c, &m))
        sk_host.Abort(a->comm, MPI_ERR_INTERN); /* it was read before */
    *rc = a->coll == SK_REDUCE ? reduce(a, &m, c) : allgatherv(a, &m, c);
    if (a->timed)
        sk_guarded_over(a->timed);
    *rc = sk_count_over(*rc);
    return true;
}
