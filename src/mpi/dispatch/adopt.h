/* adopt.h: Skein begins to serve a communicator. Its ranks agree on a number for it (see world.h), in a
 * blocking collective call, by one allreduce of the host on the user's communicator, which all ranks
 * call in the same order anyway. Everything else they know already: who sits where from the world, shared
 * memory from the node's memory. Until then the host serves its calls.
 *
 * MPI_COMM_WORLD is adopted in MPI_Init, a communicator with a topology when it is created, others when
 * they prove worth it, see worth.h. */
#ifndef SK_ADOPT_H
#define SK_ADOPT_H

#include "mpi/state/comm.h"

/* All ranks do this in the same call. */
void sk_adopt(sk_comm *c);
#endif
