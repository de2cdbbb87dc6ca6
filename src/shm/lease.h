/* lease.h: the shared memory of one communicator's local ranks: a region of the node's memory, with
 * epochs in it. When a communicator is freed its lease is kept, and the next communicator of the same
 * local ranks goes on where that one stopped: nothing is cleared, and the pages exist. */
#ifndef SK_LEASE_H
#define SK_LEASE_H

#include "base/status.h"
#include "shm/node_memory.h"
#include "shm/shm.h"

typedef struct sk_leases sk_leases; /* those that this process keeps */

typedef struct sk_lease {
    sk_shm *shm;
    sk_shm *lane[SK_SHM_LANES]; /* NULL: not used yet */
    sk_shm_size size;
    sk_region region;
    struct sk_lease *next; /* in the list of those that are kept */
    bool fresh;            /* it served nobody before */
    int n;
    int ranks[]; /* the local ranks, by numbers that stay the same */
} sk_lease;

sk_leases *sk_leases_new(sk_node_memory *memory); /* NULL: out of memory */
void sk_leases_free(sk_leases *p);

/* By the leader, local rank 0 of n, for all of them: one that is kept, or else a new one. NULL: no space.
 * Before the others have seen it it can be cancelled. */
sk_lease *sk_lease_take(sk_leases *p, const int *ranks, int n, sk_shm_size size);
void sk_lease_cancel(sk_leases *p, sk_lease *l);

/* By the others: the lease of a region that the leader published. NULL: out of memory. */
sk_lease *sk_lease_attach(sk_leases *p, sk_region r, const int *ranks, int n, int me,
                          sk_shm_size size);

/* A lane, made when first asked for. NULL: out of memory. */
sk_shm *sk_lease_lane(const sk_leases *p, sk_lease *l, int lane);

/* A lane outside the lease, for one persistent collective: its starts may come in another order at each
 * rank than those of other collectives. */
typedef struct sk_own_lane {
    sk_shm *shm; /* NULL: none */
    sk_region region;
} sk_own_lane;

/* By the leader, for all of them. None: no space. Before the others have seen it it can be cancelled. */
sk_region sk_own_lane_take(sk_leases *p, const sk_lease *l);
void sk_own_lane_cancel(sk_leases *p, const sk_lease *l, sk_region r);

/* By all local ranks, between two collectives on the lease: the region is the leader's. SK_NOMEM: this rank
 * leaves the others waiting. */
sk_status sk_own_lane_share(sk_leases *p, sk_lease *l, sk_region r, sk_own_lane *out);
void sk_own_lane_end(sk_leases *p, sk_own_lane *own); /* the host may call it */

/* `keep`: all its collectives ended well. Takes one short lock: the host may call it. */
void sk_lease_end(sk_leases *p, sk_lease *l, bool keep);

#endif
