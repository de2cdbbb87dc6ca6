/* descriptor.h: a planned blocking call with everything that its runs need, except for the buffers.
 * Made once, run by every call like it. */
#ifndef SK_DESCRIPTOR_H
#define SK_DESCRIPTOR_H

#include "mpi/dispatch/args.h"
#include "mpi/dispatch/guarded.h"
#include "mpi/dispatch/request.h"
#include "mpi/transport/mpi_wire.h"
#include "mpi/transport/one_epoch.h"

typedef struct sk_descriptor {
    sk_plan *plan;
    size_t scratch, packets,
        bytes; /* parts of the communicator's scratch, and all of it; may be 0 */
    const struct sk_sched_view *sched;
    sk_report_counter *counter; /* of the report */
    sk_guarded *guarded;        /* NULL: its calls are not compared with others */
    sk_guard_side side;         /* of the plan: Skein's or its other one */
    bool one_epoch;             /* sk_one_epoch_fits */
    bool nothing;               /* this rank has no part in it */
    bool sized;                 /* the cell has sizes that not all ranks know */
    bool mends;                 /* sk_mend_needed */
    bool unequal;               /* see sk_mpi_call; in the signature */
    sk_mpi_wire wire;
} sk_descriptor;

/* The plan and the handles are borrowed. */
void sk_descriptor_init(sk_descriptor *x, const sk_comm *c, const sk_mpi_call *call, MPI_Op op,
                        sk_plan *plan);

/* Run it and count it in the report, with the time since `since`. Returns what the MPI call returns.
 */
SK_HOT int sk_descriptor_run(sk_descriptor *x, sk_comm *c, void *send, void *recv, double since);

/* It ended with an error: report it. */
int sk_descriptor_failed(const sk_descriptor *x, sk_comm *c, sk_status st);

/* The same for one epoch. */
static inline int sk_descriptor_run_epoch(sk_descriptor *x, sk_comm *c, void *send, void *recv,
                                          double since)
{
    sk_comm_next(c); /* the tag is not needed, but all ranks must count alike */
    sk_status st = sk_one_epoch_run(x->sched, &x->wire, send, recv);
    sk_count_served(x->plan, x->counter, since, c);
    return SK_UNLIKELY(st != SK_OK) ? sk_descriptor_failed(x, c, st) : MPI_SUCCESS;
}

#endif
