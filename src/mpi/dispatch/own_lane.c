#include "mpi/dispatch/own_lane.h"

#include "mpi/state/world.h"

#if SK_HAVE_SHM

/* The leader of each node takes a region. On one node its ranks see whether it has one; on several all ranks
 * must agree. */
bool sk_own_lane_get(sk_comm *c, bool wanted, sk_own_lane *out)
{
    *out = (sk_own_lane){0};
    if (!c->lease)
        return true;
    sk_leases *leases = sk_proc.world->leases;
    bool leader = wanted && c->machine->local_rank[c->rank] == 0;
    sk_region r = leader ? sk_own_lane_take(leases, c->lease) : (sk_region){0};
    if (c->machine->nnodes > 1 && sk_comm_any(c, leader && !r.at)) {
        sk_own_lane_cancel(leases, c->lease, r);
        return false;
    }
    if (!wanted)
        return true;
    if (sk_own_lane_share(leases, c->lease, r, out) != SK_OK)
        sk_host.Abort(c->user, MPI_ERR_NO_MEM);
    return out->shm;
}

#else

bool sk_own_lane_get(sk_comm *c, bool wanted, sk_own_lane *out)
{
    (void)c, (void)wanted;
    *out = (sk_own_lane){0};
    return true;
}

#endif
