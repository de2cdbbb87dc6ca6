/* descriptor.h: a planned blocking call with everything that its runs need, except for the buffers.
 * Made once, run by every call like it. */
#ifndef SK_DESCRIPTOR_H
#define SK_DESCRIPTOR_H

#include "mpi/dispatch/args.h"
#include "mpi/transport/mpi_wire.h"

typedef struct sk_descriptor {
    sk_plan *plan;
    size_t scratch, packets,
        bytes; /* parts of the communicator's scratch, and all of it; may be 0 */
    const struct sk_sched_view *sched;
    sk_report_counter *counter; /* of the report */
    sk_mpi_wire wire;
} sk_descriptor;

/* The plan and the handles are borrowed. */
void sk_descriptor_init(sk_descriptor *x, const sk_comm *c, const sk_mpi_call *call, MPI_Op op,
                        sk_plan *plan);

/* Run it and count it in the report, with the time since `since`. Returns what the MPI call returns.
 */
SK_HOT int sk_descriptor_run(sk_descriptor *x, sk_comm *c, void *send, void *recv, double since);

#endif
