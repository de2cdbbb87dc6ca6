/* wait.c: the calls that start, wait for, test and free requests. While the user holds none of Skein's
 * collectives they cost one branch. Where all handles are Skein's, the host is not asked. Otherwise the
 * handles of started collectives are replaced by generalized requests, and the calls test, progress
 * Skein's collectives, and test again. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/dispatch/deferred.h"
#include "mpi/dispatch/request.h"
#include "mpi/dispatch/watch.h"
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

/* A collective that the user has started and not yet waited for; NULL: the handle is something else. */
static sk_op *started(MPI_Request handle)
{
    sk_op *op = sk_op_of(handle);
    return op && sk_op_state_of(op) != SK_OP_IDLE ? op : NULL;
}

/* `over`: Skein's are over, and the host need not see them. False: out of memory. */
static bool swap_in(sk_swapped *s, int n, MPI_Request *user, bool over)
{
    s->n = n;
    s->user = s->work = user;
    s->op = NULL;
    if (n <= 0 || !atomic_load_explicit(&sk_proc.pending, memory_order_relaxed))
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
        s->op[i] = started(user[i]);
        s->work[i] = !s->op[i] ? user[i] : over ? MPI_REQUEST_NULL : sk_op_work(s->op[i]);
    }
    return true;
}

/* The user has waited for the collective behind this handle. A persistent handle stays as it is. */
static void take_away(sk_op *op, MPI_Request *handle)
{
    if (!op->persistent)
        *handle = MPI_REQUEST_NULL;
    sk_op_waited(op);
}

static void swap_end(const sk_swapped *s)
{
    if (s->op && s->work != s->few_work) {
        free(s->work);
        free(s->op);
    }
}

/* The request behind a handle shows whether it is complete. */
static void swap_out(sk_swapped *s)
{
    if (!s->op)
        return;
    for (int i = 0; i < s->n; i++) {
        if (!s->op[i])
            s->user[i] = s->work[i];
        else if (s->work[i] == MPI_REQUEST_NULL)
            take_away(s->op[i], &s->user[i]);
    }
    swap_end(s);
}

/* ---- handles that are all Skein's ---- */

/* Is this the handle of a started collective that the host knows nothing about? */
static inline sk_op *only_ours(MPI_Request handle)
{
    sk_op *op = started(handle);
    return op && !op->work_made ? op : NULL;
}

/* If it went wrong the host is to say so, unless it did. */
static bool host_must_tell(const sk_op *op)
{
    return !sk_op_well(op) && !(op->by_host && op->raised);
}

/* Is it over, and the host need not see it? `once`: do not wait for it. */
static bool has_ended(sk_op *op, bool once)
{
    (once ? sk_op_test : sk_op_wait)(op);
    return sk_op_state_of(op) == SK_OP_OVER && !host_must_tell(op);
}

static bool went_wrong(const sk_op *op)
{
    return sk_op_state_of(op) == SK_OP_OVER && host_must_tell(op);
}

/* Of several requests that the host need not see: what the call returns, by this one's result and the others'. */
static int one_of_several(const sk_op *op, int rc)
{
    return op && !sk_op_well(op) ? MPI_ERR_IN_STATUS : rc;
}

/* All of the handles are Skein's, or none; at least one is. */
static bool all_ours(int n, const MPI_Request *handles)
{
    int ours = 0, none = 0;
    for (int i = 0; i < n && ours + none == i; i++)
        if (handles[i] == MPI_REQUEST_NULL)
            none++;
        else if (only_ours(handles[i]))
            ours++;
    return ours > 0 && ours + none == n;
}

/* Repeat a host call until it sets `done`; call it only `once` to test. */
#define UNTIL(done, rc, call, once)                                                                \
    {                                                                                              \
        sk_progress();                                                                             \
        SK_WAIT_UNTIL(sk_proc.wait, ((rc) = (call)) != MPI_SUCCESS || (done) || (once),            \
                      sk_progress());                                                              \
    }

static int single(MPI_Request *request, int *flag, MPI_Status *status, bool once)
{
    sk_swapped s;
    int rc;
    sk_op *op = only_ours(*request);
    *flag = 0;
    if (op && has_ended(op, once)) {
        rc = sk_op_result(op);
        sk_op_status(status);
        take_away(op, request);
        *flag = 1;
        return rc;
    }
    if (op && !went_wrong(op)) {
        sk_host_progress();
        return MPI_SUCCESS;
    }
    swap_in(&s, 1, request, false);
    UNTIL(*flag, rc, sk_host.Test(s.work, flag, status), once)
    swap_out(&s);
    return rc;
}

/* Of MPI_REQUEST_NULL: the host knows what is empty. */
static void empty_status(MPI_Status *status)
{
    MPI_Request none = MPI_REQUEST_NULL;
    int flag;
    sk_host.Test(&none, &flag, status);
}

/* The ops behind handles that are all Skein's, or NULL. */
static sk_op *ours_or_none(MPI_Request handle)
{
    return handle == MPI_REQUEST_NULL ? NULL : sk_op_of(handle);
}

/* MPI_Waitall and MPI_Testall for handles that are all Skein's. False: one of them went wrong, and the host is to say so. */
static bool all_of_ours(int n, MPI_Request *requests, int *flag, MPI_Status *statuses, bool once,
                        int *rc)
{
    bool ended = true, wrong = false;
    *rc = MPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        sk_op *op = ours_or_none(requests[i]);
        if (!op)
            continue;
        ended &= has_ended(op, once);
        wrong |= went_wrong(op);
        *rc = ended ? one_of_several(op, *rc) : MPI_SUCCESS;
    }
    *flag = ended;
    if (!ended && !wrong)
        sk_host_progress();
    for (int i = 0; ended && i < n; i++) {
        sk_op *op = ours_or_none(requests[i]);
        if (statuses != MPI_STATUSES_IGNORE)
            (op ? sk_op_status : empty_status)(&statuses[i]);
        if (SK_UNLIKELY(*rc != MPI_SUCCESS) && statuses != MPI_STATUSES_IGNORE)
            statuses[i].MPI_ERROR = op ? sk_op_result(op) : MPI_SUCCESS;
        if (op)
            take_away(op, &requests[i]);
    }
    return !wrong;
}

/* Wait for those that are Skein's. True: the host need not see them, and Skein has nothing else to do: the host may
 * block. */
static bool end_ours(int n, const MPI_Request *requests)
{
    for (int i = 0; i < n; i++) {
        sk_op *op = started(requests[i]);
        if (op && (op->work_made || !has_ended(op, false)))
            return false;
    }
    return !atomic_load_explicit(&sk_proc.inflight, memory_order_relaxed);
}

/* MPI_Waitall where Skein's are over. MPICH 4.0's MPI_Testall, unlike its MPI_Waitall, goes wrong with
 * several persistent collectives of its own. */
static int wait_for_others(sk_swapped *s, MPI_Status *statuses)
{
    int hosts = sk_host.Waitall(s->n, s->work, statuses), rc = hosts;
    for (int i = 0; s->op && i < s->n; i++)
        rc = one_of_several(s->op[i], rc);
    for (int i = 0; s->op && statuses != MPI_STATUSES_IGNORE && i < s->n; i++) {
        if (s->op[i])
            sk_op_status(&statuses[i]);
        if (SK_UNLIKELY(rc != MPI_SUCCESS) && (s->op[i] || hosts == MPI_SUCCESS))
            statuses[i].MPI_ERROR = s->op[i] ? sk_op_result(s->op[i]) : MPI_SUCCESS;
    }
    return rc;
}

static int all(int n, MPI_Request *requests, int *flag, MPI_Status *statuses, bool once)
{
    sk_swapped s;
    int rc;
    if (n > 0 && all_ours(n, requests) && all_of_ours(n, requests, flag, statuses, once, &rc))
        return rc;
    bool over = !once && end_ours(n, requests);
    if (!swap_in(&s, n, requests, over))
        return MPI_ERR_NO_MEM;
    *flag = 0;
    if (over)
        rc = wait_for_others(&s, statuses);
    else
        UNTIL(*flag, rc, sk_host.Testall(n, s.work, flag, statuses), once)
    swap_out(&s);
    return rc;
}

static int any(int n, MPI_Request *requests, int *index, int *flag, MPI_Status *status, bool once)
{
    sk_swapped s;
    int rc;
    if (!swap_in(&s, n, requests, false))
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
    if (!swap_in(&s, n, requests, false))
        return MPI_ERR_NO_MEM;
    *outcount = 0;
    UNTIL(*outcount, rc, sk_host.Testsome(n, s.work, outcount, indices, statuses), once)
    swap_out(&s);
    return rc;
}

/* ---- entry points ---- */

/* Return what the call returns, and what it takes is added up if somebody wants to know. */
#define WATCHED(call)                                                                              \
    do {                                                                                           \
        if (SK_UNLIKELY(sk_watching())) {                                                          \
            int64_t since = sk_watch_now();                                                        \
            int result = (call);                                                                   \
            sk_watched(since);                                                                     \
            return result;                                                                         \
        }                                                                                          \
        return (call);                                                                             \
    } while (0)

/* One of Skein's that is over, as small ones are when all ranks come at the same time. */
static inline bool was_over(MPI_Request *request, MPI_Status *status)
{
    sk_op *op = only_ours(*request);
    if (!op || sk_op_state_of(op) != SK_OP_OVER || !sk_op_well(op))
        return false;
    sk_op_status(status);
    take_away(op, request);
    return true;
}

static inline int wait_for(MPI_Request *request, MPI_Status *status)
{
    int flag;
    if (!sk_op_pending())
        return sk_host.Wait(request, status);
    return was_over(request, status) ? MPI_SUCCESS : single(request, &flag, status, false);
}

SK_ENTRY(MPI_Wait, (MPI_Request * request, MPI_Status *status), (request, status))
{
    WATCHED(wait_for(request, status));
}

SK_ENTRY(MPI_Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status))
{
    WATCHED(sk_op_pending() ? single(request, flag, status, true)
                            : sk_host.Test(request, flag, status));
}

SK_ENTRY(MPI_Waitall, (int n, MPI_Request requests[], MPI_Status *statuses),
         (n, requests, statuses))
{
    int flag;
    WATCHED(sk_op_pending() ? all(n, requests, &flag, statuses, false)
                            : sk_host.Waitall(n, requests, statuses));
}

SK_ENTRY(MPI_Testall, (int n, MPI_Request requests[], int *flag, MPI_Status *statuses),
         (n, requests, flag, statuses))
{
    WATCHED(sk_op_pending() ? all(n, requests, flag, statuses, true)
                            : sk_host.Testall(n, requests, flag, statuses));
}

SK_ENTRY(MPI_Waitany, (int n, MPI_Request requests[], int *index, MPI_Status *status),
         (n, requests, index, status))
{
    int flag;
    WATCHED(sk_op_pending() ? any(n, requests, index, &flag, status, false)
                            : sk_host.Waitany(n, requests, index, status));
}

SK_ENTRY(MPI_Testany, (int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
         (n, requests, index, flag, status))
{
    WATCHED(sk_op_pending() ? any(n, requests, index, flag, status, true)
                            : sk_host.Testany(n, requests, index, flag, status));
}

SK_ENTRY(MPI_Waitsome,
         (int n, MPI_Request requests[], int *outcount, int *indices, MPI_Status *statuses),
         (n, requests, outcount, indices, statuses))
{
    WATCHED(sk_op_pending() ? some(n, requests, outcount, indices, statuses, false)
                            : sk_host.Waitsome(n, requests, outcount, indices, statuses));
}

SK_ENTRY(MPI_Testsome,
         (int n, MPI_Request requests[], int *outcount, int *indices, MPI_Status *statuses),
         (n, requests, outcount, indices, statuses))
{
    WATCHED(sk_op_pending() ? some(n, requests, outcount, indices, statuses, true)
                            : sk_host.Testsome(n, requests, outcount, indices, statuses));
}

SK_ENTRY(MPI_Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
         (request, flag, status))
{
    sk_op *op = sk_op_pending() ? started(request) : NULL;
    if (sk_busy())
        sk_progress();
    return sk_host.Request_get_status(op ? sk_op_work(op) : request, flag, status);
}

#if SK_HAVE_NEXT
/* A call of the host that looks at requests and leaves them as they are. */
#define LOOK(n, requests, call)                                                                    \
    sk_swapped s;                                                                                  \
    if (!swap_in(&s, n, (MPI_Request *)(uintptr_t)(requests), false))                              \
        return MPI_ERR_NO_MEM;                                                                     \
    sk_progress();                                                                                 \
    int rc = call;                                                                                 \
    swap_end(&s);                                                                                  \
    return rc;

SK_ENTRY(MPI_Request_get_status_any,
         (int n, SK_CONST_REQUEST requests[], int *index, int *flag, MPI_Status *status),
         (n, requests, index, flag, status)){
    LOOK(n, requests, sk_host.Request_get_status_any(n, s.work, index, flag, status))}

SK_ENTRY(MPI_Request_get_status_all,
         (int n, SK_CONST_REQUEST requests[], int *flag, MPI_Status *statuses),
         (n, requests, flag, statuses)){
    LOOK(n, requests, sk_host.Request_get_status_all(n, s.work, flag, statuses))}

SK_ENTRY(MPI_Request_get_status_some,
         (int n, SK_CONST_REQUEST requests[], int *outcount, int *indices, MPI_Status *statuses),
         (n, requests, outcount, indices, statuses)){
    LOOK(n, requests, sk_host.Request_get_status_some(n, s.work, outcount, indices, statuses))}

/* An extension of MPICH's, from 4.1 on: true or false, without progress. */
SK_ENTRY(MPIX_Request_is_complete, (MPI_Request request), (request))
{
    sk_op *op = started(request);
    return op ? sk_op_state_of(op) == SK_OP_OVER : sk_host.Request_is_complete(request);
}
#endif

SK_ENTRY(MPI_Cancel, (MPI_Request * request), (request))
{
    sk_op *op = sk_op_pending() ? started(*request) : NULL;
    MPI_Request work = op ? sk_op_work(op) : *request;
    return sk_host.Cancel(op ? &work : request);
}

/* ---- persistent collectives ---- */

static inline sk_op *persistent(MPI_Request handle)
{
    sk_op *op =
        atomic_load_explicit(&sk_proc.persistent, memory_order_relaxed) ? sk_op_of(handle) : NULL;
    return op && op->persistent ? op : NULL;
}

/* Skein or the host serves it, and what that takes may count. */
__attribute__((noinline)) static int start_compared(sk_op *op)
{
    int rc = MPI_SUCCESS;
    int64_t since = sk_watching() ? sk_watch_now() : 0;
    sk_persist_start next = sk_persist_next(op->persist, op->comm);
    op->quiet = next.quiet;
    op->by_host = next.side == SK_GUARD_HOST;
    if (!op->by_host)
        sk_op_use_other(op, next.side == SK_GUARD_OTHER);
    op->agreeing = op->persist->asked != SK_PERSIST_NOTHING;
    op->ran = false;
    if (op->by_host)
        rc = sk_op_start_by_host(op);
    else
        (op->at_once && !op->agreeing ? sk_op_start_at_once : sk_op_start)(op);
    if (next.watched && since)
        sk_watched(since);
    return rc;
}

static int start(sk_op *op)
{
    if (sk_op_state_of(op) != SK_OP_IDLE)
        return sk_raise(op->comm, MPI_ERR_REQUEST);
    if (SK_UNLIKELY(--op->quiet < 0))
        return start_compared(op);
    (op->at_once ? sk_op_start_at_once : sk_op_start)(op);
    return MPI_SUCCESS;
}

SK_ENTRY(MPI_Start, (MPI_Request * request), (request))
{
    sk_op *op = persistent(*request);
    return op ? start(op) : sk_host.Start(request);
}

SK_ENTRY(MPI_Startall, (int n, MPI_Request requests[]), (n, requests))
{
    if (!atomic_load_explicit(&sk_proc.persistent, memory_order_relaxed))
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
    sk_op *op = persistent(*request);
    if (!op && sk_op_pending())
        op = started(*request);
    if (!op)
        return sk_host.Request_free(request);
    sk_op_user_frees(op);
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
