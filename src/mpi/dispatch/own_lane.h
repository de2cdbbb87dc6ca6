/* own_lane.h: the shared memory of a persistent collective, which only it uses. */
#ifndef SK_OWN_LANE_H
#define SK_OWN_LANE_H

#include "mpi/state/comm.h"

/* A call of all ranks. None if it is not wanted, or without shared memory. False: none is left on one of the nodes. */
bool sk_own_lane_get(sk_comm *c, bool wanted, sk_own_lane *out);

#endif
