/* ready.h: a planned blocking call with all that its runs need, but for the buffers: made once,
 * run by every call like it. */
#ifndef SK_READY_H
#define SK_READY_H

#include "mpi/args.h"
#include "mpi/mpi_wire.h"

typedef struct sk_ready {
    sk_plan *plan;
    size_t scratch, packets, room; /* bytes of the communicator's room; `room`: in all, may be 0 */
    const struct sk_sched_view *sched;
    sk_tally *tally; /* of the report */
    sk_mpi_wire wire;
} sk_ready;

/* The plan and the handles are borrowed. */
void sk_ready_make(sk_ready *x, const sk_comm *c, const sk_asked *asked, MPI_Op op, sk_plan *plan);

/* Run it, and count it, with the time since then: what the MPI call returns. */
SK_HOT int sk_ready_run(sk_ready *x, sk_comm *c, void *send, void *recv, double since);

#endif
