/* wait.c: the calls that start, wait for, test and free requests. While none of Skein's collectives
 * is active they cost one branch. Otherwise they test, progress Skein's collectives, and test again.
 * The handles of started persistent collectives are replaced by the requests behind them. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/dispatch/request.h"
#include "mpi/state/host.h"

/* ---- replacing handles ---- */

enum { FEW = 32 };

typedef struct sk_swapped {
    int n;
    MPI_Request *user, *work; /* the user's array, and the array the host sees */
    sk_op **op;               /* behind each, or NULL */
    MPI_Request few_work[FEW];
    sk_op *few_op[FEW];
} sk_swapped;

/* False: out of memory. */
static bool swap_in(sk_swapped *s, int n, MPI_Request *user)
{
    s->n = n;
    s->user = s->work = user;
    s->op = NULL;
    if (n <= 0 || !atomic_load_explicit(&sk_proc.persist_started, memory_order_relaxed))
        return true;
    s->work = n <= FEW ? s->few_work : malloc(sizeof(MPI_Request) * (size_t)n);
    s->op = n <= FEW ? s->few_op : malloc(sizeof(sk_op *) * (size_t)n);
    if (!s->work || !s->op) {
        free(s->work);
        free(s->op);
        sk_host.Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
        return false;
    }
    for (int i = 0; i < n; i++) {
        sk_op *op = sk_persist_find(user[i]);
        s->op[i] = op && op->started ? op : NULL;
        s->work[i] = s->op[i] ? op->work : user[i];
    }
    return true;
}

/* A persistent handle stays as it is; the request behind it shows whether it is complete. */
static void swap_out(sk_swapped *s)
{
    if (!s->op)
        return;
    for (int i = 0; i < s->n; i++) {
        if (!s->op[i])
            s->user[i] = s->work[i];
        else if (s->work[i] == MPI_REQUEST_NULL)
            sk_persist_waited(s->op[i]);
    }
    if (s->work != s->few_work) {
        free(s->work);
        free(s->op);
    }
}

/* Repeat a host call until it sets `done`; call it only `once` to test. */
#define UNTIL(done, rc, call, once)                                                                \
    sk_progress();                                                                                 \
    SK_WAIT_UNTIL(sk_proc.wait, ((rc) = (call)) != MPI_SUCCESS || (done) || (once), sk_progress());

static int single(MPI_Request *request, int *flag, MPI_Status *status, bool once)
{
    sk_swapped s;
    int rc;
    swap_in(&s, 1, request);
    *flag = 0;
    UNTIL(*flag, rc, sk_host.Test(s.work, flag, status), once)
    swap_out(&s);
    return rc;
}

static int all(int n, MPI_Request *requests, int *flag, MPI_Status *statuses, bool once)
{
    sk_swapped s;
    int rc;
    if (!swap_in(&s, n, requests))
        return MPI_ERR_NO_MEM;
    *flag = 0;
    UNTIL(*flag, rc, sk_host.Testall(n, s.work, flag, statuses), once)
    swap_out(&s);
    return rc;
}

static int any(int n, MPI_Request *requests, int *index, int *flag, MPI_Status *status, bool once)
{
    sk_swapped s;
    int rc;
    if (!swap_in(&s, n, requests))
        return MPI_ERR_NO_MEM;
    *flag = 0;
    UNTIL(*flag, rc, sk_host.Testany(n, s.work, index, flag, status), once)
    swap_out(&s);
    return rc;
}

static int some(int n, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses,
                bool once)
{
    sk_swapped s;
    int rc;
    if (!swap_in(&s, n, requests))
        return MPI_ERR_NO_MEM;
    *outcount = 0;
    UNTIL(*outcount, rc, sk_host.Testsome(n, s.work, outcount, indices, statuses), once)
    swap_out(&s);
    return rc;
}

/* ---- entry points ---- */

SK_ENTRY(MPI_Wait, (MPI_Request * request, MPI_Status *status), (request, status))
{
    int flag;
    return sk_busy() ? single(request, &flag, status, false) : sk_host.Wait(request, status);
}

SK_ENTRY(MPI_Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status))
{
    return sk_busy() ? single(request, flag, status, true) : sk_host.Test(request, flag, status);
}

SK_ENTRY(MPI_Waitall, (int n, MPI_Request requests[], MPI_Status *statuses),
         (n, requests, statuses))
{
    int flag;
    return sk_busy() ? all(n, requests, &flag, statuses, false)
                     : sk_host.Waitall(n, requests, statuses);
}

SK_ENTRY(MPI_Testall, (int n, MPI_Request requests[], int *flag, MPI_Status *statuses),
         (n, requests, flag, statuses))
{
    return sk_busy() ? all(n, requests, flag, statuses, true)
                     : sk_host.Testall(n, requests, flag, statuses);
}

SK_ENTRY(MPI_Waitany, (int n, MPI_Request requests[], int *index, MPI_Status *status),
         (n, requests, index, status))
{
    int flag;
    return sk_busy() ? any(n, requests, index, &flag, status, false)
                     : sk_host.Waitany(n, requests, index, status);
}

SK_ENTRY(MPI_Testany, (int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
         (n, requests, index, flag, status))
{
    return sk_busy() ? any(n, requests, index, flag, status, true)
                     : sk_host.Testany(n, requests, index, flag, status);
}

SK_ENTRY(MPI_Waitsome,
         (int n, MPI_Request requests[], int *outcount, int *indices, MPI_Status *statuses),
         (n, requests, outcount, indices, statuses))
{
    return sk_busy() ? some(n, requests, outcount, indices, statuses, false)
                     : sk_host.Waitsome(n, requests, outcount, indices, statuses);
}

SK_ENTRY(MPI_Testsome,
         (int n, MPI_Request requests[], int *outcount, int *indices, MPI_Status *statuses),
         (n, requests, outcount, indices, statuses))
{
    return sk_busy() ? some(n, requests, outcount, indices, statuses, true)
                     : sk_host.Testsome(n, requests, outcount, indices, statuses);
}

SK_ENTRY(MPI_Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
         (request, flag, status))
{
    if (!sk_busy())
        return sk_host.Request_get_status(request, flag, status);
    sk_progress();
    sk_op *op = sk_persist_find(request);
    return sk_host.Request_get_status(op && op->started ? op->work : request, flag, status);
}

static int start(sk_op *op)
{
    if (op->started)
        return sk_raise(op->comm, MPI_ERR_REQUEST);
    atomic_fetch_add(&sk_proc.persist_started, 1);
    int rc = sk_op_start(op);
    if (rc != MPI_SUCCESS) {
        atomic_fetch_sub(&sk_proc.persist_started, 1);
        return sk_raise(op->comm, rc);
    }
    return MPI_SUCCESS;
}

SK_ENTRY(MPI_Start, (MPI_Request * request), (request))
{
    sk_op *op = sk_persist_find(*request);
    return op ? start(op) : sk_host.Start(request);
}

SK_ENTRY(MPI_Startall, (int n, MPI_Request requests[]), (n, requests))
{
    if (!atomic_load_explicit(&sk_proc.persist_known, memory_order_relaxed))
        return sk_host.Startall(n, requests);
    for (int i = 0; i < n; i++) {
        int rc = SK_BODY(MPI_Start)(&requests[i]);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    return MPI_SUCCESS;
}

SK_ENTRY(MPI_Request_free, (MPI_Request * request), (request))
{
    sk_op *op = sk_persist_find(*request);
    if (!op)
        return sk_host.Request_free(request);
    sk_persist_free(op);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* ---- freeing what an active collective still needs ---- */

SK_ENTRY(MPI_Type_free, (MPI_Datatype * type), (type))
{
    if (!sk_defer_type_free(*type))
        return sk_host.Type_free(type);
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

SK_ENTRY(MPI_Op_free, (MPI_Op * op), (op))
{
    if (!sk_defer_op_free(*op))
        return sk_host.Op_free(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}
