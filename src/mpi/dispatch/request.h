/* request.h: collectives that outlive their call (nonblocking and persistent), their handles and
 * their progress.
 *
 * A nonblocking collective is a generalized request of the host. A persistent one is an inactive
 * receive, never started, which the host handles correctly while it is inactive. Each start
 * makes a generalized request behind it, and the Wait and Test calls put that in its place.
 *
 * An sk_op is counted by its users:
 *   the user's handle, if persistent    until MPI_Request_free
 *   the generalized request             until the host calls its free function
 *   the progress                        while active, until sk_host.Grequest_complete has returned
 * So MPI_Request_free may come at any time, from any thread. */
#ifndef SK_REQUEST_H
#define SK_REQUEST_H

#include "base/attr.h"
#include "exec/run.h"
#include "mpi/dispatch/args.h"
#include "mpi/transport/mpi_wire.h"

typedef struct sk_op {
    atomic_int users;
    sk_run run;
    sk_mpi_wire wire;
    sk_comm *comm;
    sk_plan *plan;
    sk_mpi_call *call; /* no plan yet: the call, and the set-up it waits for */
    int setup;
    uint32_t ntypes;
    void *send, *recv, *scratch, *packets;
    int error;                  /* found before the start */
    struct sk_staging *staging; /* of the buffers, or NULL */
    enum { SK_STAGE_IN, SK_STAGE_RUN, SK_STAGE_BACK } stage;
    MPI_Request work;   /* generalized request, while started */
    MPI_Request handle; /* persistent: what the user holds */
    bool persistent;
    bool started; /* persistent: not yet waited for */
    double since;
    struct sk_op *next;       /* in the list of active ones */
    struct sk_op *next_known; /* persistent: in its bucket */
    void *memory;             /* scratch, packets, request arrays, types */
} sk_op;

void sk_request_start(void); /* at the start of the process: registers the progress function */

/* A collective that outlives its call. Without a plan the call is copied, and planned when the last
 * set-up requested is done. NULL: out of memory. */
sk_op *sk_op_new(sk_comm *c, const sk_mpi_call *call, MPI_Op mpi_op, sk_plan *plan);
void sk_op_free(sk_op *op); /* one that was never started */

/* Start it; sk_progress does the rest. Sets op->work. */
int sk_op_start(sk_op *op);

/* Add a served call to the report. */
static inline void sk_count_served(const sk_plan *p, sk_report_counter *counter, double since)
{
    sk_report_counter_add(counter, sk_proc.reporting ? sk_host.Wtime() - since : 0);
    if (p->off.messages)
        sk_report_off_node(sk_proc.report, p->off.messages, p->off.bytes);
}

int sk_persist_add(sk_op *op);              /* makes op->handle */
sk_op *sk_persist_find(MPI_Request handle); /* NULL: not ours */
void sk_persist_waited(sk_op *op);          /* a Wait or Test has seen it complete */
void sk_persist_free(sk_op *op);            /* MPI_Request_free */

/* The user frees a type or an operation. True: a collective still needs it, and it is freed later.
 */
bool sk_defer_type_free(MPI_Datatype type);
bool sk_defer_op_free(MPI_Op op);

#endif
