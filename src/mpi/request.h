/* request.h: collectives that outlive their call: nonblocking and persistent ones, their handles
 * and their progress.
 *
 * A nonblocking collective is a generalized request of the host. A persistent one is an inactive
 * receive from MPI_PROC_NULL, which the host treats as it should while it is inactive; each start
 * makes a generalized request behind it, and the Wait and Test calls put that in its place. */
#ifndef SK_REQUEST_H
#define SK_REQUEST_H

#include "base/hot.h"
#include "exec/run.h"
#include "mpi/args.h"
#include "mpi/mpi_wire.h"

typedef struct sk_op {
    sk_run run;
    sk_mpi_wire wire;
    sk_comm *comm;
    sk_plan *plan;
    sk_asked *asked; /* no plan yet: what was asked, and the set-up it waits for */
    int setup;
    uint32_t ntypes;
    void *send, *recv, *scratch, *packets;
    MPI_Request work;   /* generalized request, while started */
    MPI_Request handle; /* persistent: what the user holds */
    bool persistent;
    bool started; /* persistent: not yet waited for */
    bool dead;    /* persistent: freed by the user while started */
    double since;
    struct sk_op *next;       /* in the list of active ones */
    struct sk_op *next_known; /* persistent: in its bucket */
    void *memory;             /* scratch, packets, request arrays, types */
} sk_op;

/* Start one; the run goes on in sk_progress. Sets op->work. */
int sk_op_start(sk_op *op);
void sk_op_free(sk_op *op); /* never started, or over */

/* Make the plan of one that has none yet: SK_OK, SK_AGAIN, or an error. The process lock is held.
 */
sk_status sk_op_plan(sk_op *op);

/* A call was served: for the report. */
static inline void sk_served(const sk_plan *p, sk_tally *tally, double since)
{
    sk_tally_add(tally, sk_proc.reporting ? PMPI_Wtime() - since : 0);
    if (p->off.messages)
        sk_report_off_node(sk_proc.report, p->off.messages, p->off.bytes);
}

/* Let every active collective go as far as it can. Cheap when there is none. */
void sk_progress(void);

/* A barrier, progressing, before a call that blocks in the host: see create.c. */
void sk_meet(sk_comm *c);

/* Until every message that Skein buffered for MPI_Bsend is gone. */
void sk_wait_buffered(void);

int sk_persist_add(sk_op *op);              /* makes op->handle */
sk_op *sk_persist_find(MPI_Request handle); /* NULL: not ours */
void sk_persist_waited(sk_op *op);          /* a Wait or Test has seen its end */
void sk_persist_free(sk_op *op);            /* MPI_Request_free */

/* Report an error as the host would: through the communicator's error handler. */
int sk_raise(const sk_comm *c, int code);

/* A type or an operation is freed by the user: true when it is still needed and will be freed
 * later. */
bool sk_keep_type(MPI_Datatype type);
bool sk_keep_op(MPI_Op op);

#endif
