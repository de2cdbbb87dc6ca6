#include "mpi/dispatch/by_host.h"

int sk_by_host_add(sk_op *op, int rc, MPI_Request *request)
{
    if (rc == MPI_SUCCESS)
        sk_persist_add_host(op->persist, *request, op->comm->user);
    *request = op->handle;
    return MPI_SUCCESS;
}

sk_status sk_by_host_poll(sk_op *op)
{
    int done = 0, rc = sk_host.Test(&op->persist->host, &done, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS)
        return done ? SK_OK : SK_AGAIN;
    op->wire.error = rc;
    return SK_WIRE;
}

static void end(sk_op *op, int rc)
{
    if (rc != MPI_SUCCESS)
        op->wire.error = rc;
    sk_persist_count(op->persist, op->since);
    atomic_store_explicit(&op->state, SK_OP_OVER, memory_order_release);
}

void sk_by_host_wait(sk_op *op)
{
    end(op, sk_host.Wait(&op->persist->host, MPI_STATUS_IGNORE));
}

void sk_by_host_test(sk_op *op)
{
    int done = 0, rc = sk_host.Test(&op->persist->host, &done, MPI_STATUS_IGNORE);
    if (done || rc != MPI_SUCCESS)
        end(op, rc);
}
