/* own_lane.h: the shared memory of a persistent collective, which only it uses. */
#ifndef SK_OWN_LANE_H
#define SK_OWN_LANE_H

#include "mpi/state/comm.h"

/* A call of all ranks, when they have the plan. Without epochs, or without shared memory: none. False: none
 * is left on one of the nodes. */
bool sk_own_lane_get(sk_comm *c, const sk_plan *plan, sk_own_lane *out);

#endif
