/* pnp.h: the queues for point-to-point items: partner / non-partner (PNP) of Ghazimirsaeed et al.,
 * "Communication-aware message matching in MPI". One per side.
 *
 * All items share the base queue until it holds theta of them. Then every process that has more
 * items in it than the average becomes a partner: its later items go to a queue of its own. The
 * items of all others go to a new shared queue. When that queue holds theta items, the next level
 * is made in the same way. A search goes through the shared queues from the oldest on, up to the
 * one from which its source became a partner (the paper's level of partnership), then through the
 * partner's own queue: that is the order of age. Only the youngest shared queue gets new items; the
 * others are skipped once they are empty.
 *
 * Receives from any source wait in the shared queue as long as there is only one, then in a queue
 * of their own; searches compare sequence numbers.
 *
 *   cost      the items of non-partners, or those of one partner
 *   good for  few busy peers */
#ifndef SK_PNP_H
#define SK_PNP_H

#include "match/engine/bin.h"

typedef struct sk_pnp_level sk_pnp_level;
typedef struct sk_pnp_partner sk_pnp_partner;

typedef struct sk_pnp_shared {
    sk_bin bin;
    sk_quota quota;
    uint32_t level; /* 0: the base queue */
    struct sk_pnp_shared *next;
} sk_pnp_shared;

typedef struct sk_pnp {
    uint32_t theta, limit; /* limit: length of the open queue at which partners are searched */
    uint32_t left;         /* queues that may still be made */
    uint32_t nqueues;      /* queues made */
    sk_pnp_shared base;    /* the base queue */
    sk_pnp_shared *first, *open; /* shared queues: the oldest in use, the one for new items */
    sk_bin any;                  /* receives from any source, once there are partners */
    sk_quota no_limit;           /* quota of items that are not in a shared queue */
    sk_bin *active;              /* of the partners' queues */
    sk_pnp_partner *partners;    /* hash table with open addressing; its size is a power of two */
    uint32_t nbuckets;
    sk_bin **all; /* bins of the side */
    sk_pnp_level *levels;
    size_t bytes; /* memory beyond the struct */
} sk_pnp;

/* `budget`: how many queues for partners it may make; 0: it is a list. */
void sk_pnp_init(sk_pnp *p, uint32_t theta, uint32_t budget, sk_bin **all);
void sk_pnp_destroy(sk_pnp *p);
/* The oldest item that matches. */
sk_match_item *sk_pnp_find(sk_pnp *p, sk_match_side side, const sk_match_item *item,
                           uint64_t *traversed);
void sk_pnp_add(sk_pnp *p, sk_match_item *item);

#endif
