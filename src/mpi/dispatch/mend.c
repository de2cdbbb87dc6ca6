#include "mpi/dispatch/mend.h"

#include <limits.h>
#include <string.h>

#include "mpi/dispatch/count.h"
#include "mpi/dispatch/guarded.h"
#include "mpi/transport/mpi_wire.h"

/* Elements of this type that follow each other lie between each other's bytes, as the columns of a matrix do. Then more of
 * them than the program has memory for may meet. */
static bool interleaves(const sk_type *t)
{
    return t->true_extent > (t->extent < 0 ? -t->extent : t->extent);
}

static bool gather_needed(const sk_call *call)
{
    int64_t bytes = sk_send_block(call, 0).len;
    return SK_HOST_GATHERS_BY_SENDER && call->rank != call->root && bytes > 0 && bytes <= INT_MAX &&
           interleaves(&call->types[call->send.type]);
}

bool sk_mend_needed(const sk_call *call)
{
    if (call->coll == SK_ALLGATHERV)
        return SK_HOST_ALLGATHERV_BY_SENDER && !call->in_place &&
               call->types[call->send.type].size != call->types[call->recv.type].size;
    if (call->coll == SK_GATHER)
        return gather_needed(call);
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

/* From a packed copy, in elements as long as they are: Open MPI may cut messages at both ends by those. */
static int gather(const sk_args *a, const sk_mpi_call *m, sk_comm *c)
{
    sk_span own = sk_send_block(&m->call, 0);
    char *copy = sk_comm_scratch(&c->scratch, &c->scratch_size, (size_t)own.len);
    if (!copy)
        sk_host.Abort(a->comm, MPI_ERR_NO_MEM); /* the others are in the call */
    sk_mpi_wire w = {.base.ops = &sk_mpi_wire_ops, .types = m->call.types, .handles = m->handles};
    sk_part from = {(char *)m->send + own.off, own.len, own.type};
    sk_status st = w.base.ops->copy(&w.base, from, (sk_part){copy, own.len, SK_TYPE_BYTE});
    MPI_Datatype element;
    int rc =
        sk_host.Type_contiguous((int)m->call.types[m->call.send.type].size, MPI_BYTE, &element);
    if (rc != MPI_SUCCESS)
        sk_host.Abort(a->comm, rc); /* out of memory */
    sk_host.Type_commit(&element);
#if SK_HAVE_LARGE
    if (a->wide)
        rc = sk_host.Gather_c(copy, a->scount, element, NULL, 0, MPI_BYTE, a->root, a->comm);
    else
#endif
        rc = sk_host.Gather(copy, (int)a->scount, element, NULL, 0, MPI_BYTE, a->root, a->comm);
    sk_host.Type_free(&element);
    return rc == MPI_SUCCESS && st != SK_OK ? sk_raise(c, w.error) : rc;
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

int sk_mend_call(const sk_args *a, sk_comm *c)
{
    sk_mpi_call m;
    if (!sk_args_read(a, c, &m))
        sk_host.Abort(a->comm, MPI_ERR_INTERN); /* it was read before */
    return a->coll == SK_REDUCE   ? reduce(a, &m, c)
           : a->coll == SK_GATHER ? gather(a, &m, c)
                                  : allgatherv(a, &m, c);
}

bool sk_mend_run(const sk_args *a, sk_comm *c, int *rc)
{
    *rc = sk_mend_call(a, c);
    if (a->timed)
        sk_guarded_over(a->timed);
    *rc = sk_count_over(*rc);
    return true;
}
