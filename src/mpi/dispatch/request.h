/* request.h: collectives that outlive their call (nonblocking and persistent), their handles and
 * their progress.
 *
 * The handle that the user holds is a persistent receive that is never started. It belongs to the
 * sk_op as long as the process lives, and ops are used again and again; so a call makes no request of
 * the host. Wait and Test find the op by its handle. Where requests of the host stand beside it in an
 * array, or the collective ended with an error, which is the host's to report, it gets a generalized
 * request, and the calls that wait and test put that in its place.
 *
 * An sk_op is counted by its users:
 *   the user's handle          until it was waited for; if persistent until MPI_Request_free
 *   the generalized request    until the host calls its free function
 *   the progress               while active
 * So MPI_Request_free may come at any time, from any thread.
 *
 * On a communicator with shared memory the nonblocking collectives take its lanes in turn (shm.h). On
 * every lane they run one after the other, in the order in which all ranks start them. A persistent one has
 * a lane of its own.
 *
 * A start of a persistent one may be the host's (persist.h). Then a call that waits or tests does so with the host's
 * request, and the progress has nothing to do with it, unless a generalized request must be completed. */
#ifndef SK_REQUEST_H
#define SK_REQUEST_H

#include "base/attr.h"
#include "exec/run.h"
#include "mpi/dispatch/args.h"
#include "mpi/dispatch/observe.h"
#include "mpi/dispatch/persist.h"
#include "mpi/transport/mpi_wire.h"

/* What depends on the algorithm. */
typedef struct sk_op_face {
    sk_plan *plan;
    sk_report_counter *counter;
    uint32_t ntypes;
    bool at_once;
    void *scratch, *packets, *memory;
    size_t memory_size;
    sk_mpi_wire wire;
} sk_op_face;

/* IDLE: in the pool, or persistent and not started. */
typedef enum sk_op_state { SK_OP_IDLE, SK_OP_ACTIVE, SK_OP_OVER } sk_op_state;

typedef struct sk_op {
    MPI_Request handle; /* what the user holds, never another one */
    struct sk_op *next_known;
    atomic_int users;
    _Atomic sk_op_state state;
    bool persistent;
    bool at_once; /* persistent: one epoch and nothing else */
    sk_report_counter *counter;
    sk_run run;
    sk_mpi_wire wire;
    sk_comm *comm;
    sk_plan *plan;
    sk_mpi_call *call; /* no plan yet: the call, and the set-up it waits for */
    int setup;
    uint32_t ntypes;
    sk_own_lane own_lane; /* persistent ones that use shared memory */
    void *send, *recv, *scratch, *packets;
    int error;                  /* found before the start */
    struct sk_staging *staging; /* of the buffers, or NULL */
    enum { SK_STAGE_IN, SK_STAGE_RUN, SK_STAGE_BACK } stage;
    double since;
    sk_persist *persist;     /* persistent ones that are compared, or NULL */
    struct sk_op_face *face; /* the other algorithm, or while that serves, the first one; or NULL */
    bool other;              /* the other algorithm serves */
    int64_t quiet; /* persistent: so many starts are Skein's before its guard is asked again */
    bool by_host;  /* this start is the host's, */
    bool raised;   /* which has called the user's handler for its error */
    bool agreeing; /* the ranks agree beside this start */
    bool ran;      /* and only that is under way */

    /* Under sk_proc.lock. */
    bool linked;             /* by the host: the progress tests it */
    bool owned;              /* a thread that waits for it runs it */
    bool work_made;          /* it has a generalized request */
    MPI_Request work;        /* which is this */
    int lane;                /* of the communicator's shared memory */
    bool in_lane;            /* it is in the list of its lane */
    bool begun;              /* and its epochs count */
    struct sk_op *next;      /* in the list of active ones */
    struct sk_op *lane_next; /* in the list of its lane */
    struct sk_op *pool_next;
    struct sk_op *persistent_next;

    void *memory; /* scratch, packets, request arrays, types */
    size_t memory_size;
} sk_op;

void sk_request_start(void); /* at the start of the process: registers the progress function */
void sk_request_end(void);   /* at its end: frees the handles */

/* A collective that outlives its call. Without a plan the call is copied, and planned when the last
 * set-up requested is done. NULL: out of memory. */
sk_op *sk_op_new(sk_comm *c, const sk_mpi_call *call, MPI_Op mpi_op, sk_plan *plan, sk_form form);

/* The same for a nonblocking call with a straight schedule that needs no memory, and whose lane is free: it
 * runs as far as it can at once, over the caller's wire, and is started. NULL: not possible, and nothing
 * was done. */
sk_op *sk_op_at_once(sk_comm *c, sk_plan *plan, sk_report_counter *counter, sk_mpi_wire *wire,
                     bool one_epoch, void *send, void *recv);

/* One that moves nothing and is over. NULL: not possible, and nothing was done. */
sk_op *sk_op_nothing(sk_comm *c, sk_plan *plan, sk_report_counter *counter);

/* A persistent one may also be served by Skein's other algorithm, with this plan. False: out of memory. */
bool sk_op_add_other(sk_op *op, const sk_mpi_call *call, sk_plan *plan);

/* Which of both serves the next starts. */
void sk_op_use_other(sk_op *op, bool other);

/* Start it; sk_progress does the rest. */
void sk_op_start(sk_op *op);

/* The same for one whose `at_once` is set. */
void sk_op_start_at_once(sk_op *op);

/* The same for a start of the host's: what it says. An error in one may have cost this rank the host's request; it is
 * refused until all ranks know, as the host would. */
int sk_op_start_by_host(sk_op *op);

/* Add a served call to the report; `c`: the communicator of a blocking one, else NULL. */
static inline void sk_count_served(const sk_plan *p, sk_report_counter *counter, double since,
                                   sk_comm *c)
{
    double seconds = SK_UNLIKELY(sk_proc.reporting) ? sk_observe_served(p, c, since) : 0;
    if (sk_proc.threads)
        sk_report_counter_add(counter, seconds);
    else
        sk_report_counter_add_alone(counter, seconds);
    if (p->sent.off.messages)
        sk_report_off_node(sk_proc.report, p->sent.off.messages, p->sent.off.bytes);
}

/* May a handle be one of ours? While this is false, calls that wait or test go straight to the host. */
static inline bool sk_op_pending(void)
{
    return atomic_load_explicit(&sk_proc.pending, memory_order_relaxed) |
           atomic_load_explicit(&sk_proc.inflight, memory_order_relaxed);
}

/* The collective behind a handle. NULL: not ours. */
static inline sk_op *sk_op_of(MPI_Request handle)
{
    sk_op *op = atomic_load_explicit(&sk_proc.ops[SK_HANDLE_INDEX(handle)], memory_order_acquire);
    while (op && op->handle != handle)
        op = op->next_known;
    return op;
}

static inline sk_op_state sk_op_state_of(const sk_op *op)
{
    return atomic_load_explicit(&op->state, memory_order_acquire);
}

/* A started one: wait until it is over, or see whether it is. */
void sk_op_wait(sk_op *op);
void sk_op_test(sk_op *op);

/* What the call that waits for it returns: it is over and has no generalized request. */
int sk_op_result(const sk_op *op);

static inline bool sk_op_well(const sk_op *op)
{
    return sk_op_result(op) == MPI_SUCCESS;
}

/* The status of a collective that is over. */
void sk_op_status(MPI_Status *status);

/* The generalized request of a started one. */
MPI_Request sk_op_work(sk_op *op);

/* The user has waited for it: a persistent one can be started again, another one is gone. */
void sk_op_waited(sk_op *op);

void sk_op_user_frees(sk_op *op); /* MPI_Request_free */

#endif
