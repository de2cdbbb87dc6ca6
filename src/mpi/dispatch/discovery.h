/* discovery.h: the ranks of a communicator find out, once and together, who sits where and whether
 * local ranks can share memory. */
#ifndef SK_DISCOVERY_H
#define SK_DISCOVERY_H

#include "mpi/state/comm.h"

/* Run it. All ranks do this in the same call. */
void sk_discover(sk_comm *c);

/* Count a collective call. The first blocking one after SKEIN_FIND calls runs discovery. */
static inline void sk_discovery_count(sk_comm *c, bool blocking)
{
    if (!c->discovered && ++c->calls > sk_proc.find_after && blocking)
        sk_discover(c);
}

#endif
