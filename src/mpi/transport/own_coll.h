/* own_coll.h: the small collectives by which set-ups agree. They are schedules like those of the user's
 * calls, run over the communicator's wire. They never wait, and they touch neither the user's communicator
 * nor the choice of algorithms for the user's calls. */
#ifndef SK_OWN_COLL_H
#define SK_OWN_COLL_H

#include "exec/run.h"
#include "mpi/state/comm.h"
#include "mpi/transport/mpi_wire.h"

typedef struct sk_own_coll {
    sk_run run;
    sk_mpi_wire wire;
    sk_sched *sched; /* NULL: not started, or over */
    void *memory;
    sk_type types[2];
    MPI_Datatype handles[2];
} sk_own_coll;

/* Start it, in place, on `n` values of 64 bits. `data` must stay until it is over. */
sk_status sk_own_allreduce(sk_own_coll *o, const sk_comm *c, int tag, int64_t *data, int n,
                           sk_op_id op);
/* The same with one entry of `bytes` bytes per rank. */
sk_status sk_own_allgather(sk_own_coll *o, const sk_comm *c, int tag, void *data, size_t bytes);

/* SK_AGAIN, or the result. With `block` it is waited for. */
sk_status sk_own_coll_poll(sk_own_coll *o, bool block);
void sk_own_coll_end(sk_own_coll *o); /* of one that may be under way: its set-up has failed */

#endif
