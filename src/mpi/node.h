/* node.h: what the ranks of a communicator find out about the machine, once, together: who sits
 * where, and whether local ranks can share memory. */
#ifndef SK_NODE_H
#define SK_NODE_H

#include "mpi/comm.h"

/* A collective call on this communicator, counted; a blocking one may be the one in which it is
 * time. All ranks do this in the same call. */
void sk_node_find(sk_comm *c);

static inline void sk_node_count(sk_comm *c, bool blocking)
{
    if (!c->found && ++c->calls > sk_proc.find_after && blocking)
        sk_node_find(c);
}

void sk_node_free(sk_comm *c);

#endif
