#include "mpi/dispatch/by_host.h"

#include "mpi/state/host_errors.h"

int sk_by_host_add(sk_op *op, int rc, MPI_Request *request)
{
    if (rc == MPI_SUCCESS)
        sk_persist_add_host(op->persist, *request, op->comm->user);
    *request = op->handle;
    return MPI_SUCCESS;
}

/* The process lock is held, so the user's handlers are not called: whoever waits calls them. Open MPI 4.1 knows for a
 * collective's request only the one of MPI_COMM_WORLD. */
static int test_silently(sk_op *op, int *done)
{
    MPI_Comm own = op->comm->user;
    bool apart = own != MPI_COMM_WORLD && !op->comm->freed;
    MPI_Errhandler worlds = sk_host_errors_set_aside(MPI_COMM_WORLD), owns = MPI_ERRORS_RETURN;
    if (apart)
        owns = sk_host_errors_set_aside(own);
    int rc = sk_host.Test(&op->persist->host, done, MPI_STATUS_IGNORE);
    if (apart)
        sk_host_errors_put_back(own, owns);
    sk_host_errors_put_back(MPI_COMM_WORLD, worlds);
    return rc;
}

sk_status sk_by_host_poll(sk_op *op)
{
    int done = 0, rc;
    rc = sk_host.Request_get_status(op->persist->host, &done, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS && done)
        rc = test_silently(op, &done);
    if (rc == MPI_SUCCESS)
        return done ? SK_OK : SK_AGAIN;
    op->wire.error = rc;
    return SK_WIRE;
}

static void end(sk_op *op, int rc)
{
    if (rc != MPI_SUCCESS) {
        op->wire.error = rc;
        op->raised = true;
    }
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
