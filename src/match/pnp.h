/* pnp.h: the queues for point-to-point items, after Ghazimirsaeed et al. (partner / non-partner).
 * One per side.
 *
 * All items share the base queue until it holds theta of them. Then the processes that have more
 * items in it than the average become partners: each gets a queue of its own for its later items,
 * and the others go on in a new shared queue. When that one holds theta items, the next level is
 * made in the same way. A search looks in the shared queues from the oldest on, up to the one from
 * which its source became a partner (the paper's level of partnership), then in the partner's own:
 * that is the order of age. Shared queues but the youngest get no more items, and are forgotten
 * when they are empty.
 *
 * Receives from any source wait in the shared queue as long as there is only one, then in a queue
 * of their own, and are compared by age.
 *
 * cost  the items of non-partners, or those of one partner    good for  few busy peers */
#ifndef SK_PNP_H
#define SK_PNP_H

#include "match/bin.h"

typedef struct sk_shared {
    sk_bin bin;
    sk_scratch_bytes room;
    uint32_t level; /* 0: the base queue */
    struct sk_shared *next;
} sk_shared;

typedef struct sk_pnp_level {
    struct sk_pnp_level *made; /* before this one */
    sk_shared shared;
    sk_bin bins[];
} sk_pnp_level;

typedef struct sk_partner {
    uint32_t source;
    uint32_t level; /* of the last shared queue that may hold items of it */
    sk_bin *bin;    /* NULL: the slot is free */
} sk_partner;

typedef struct sk_pnp {
    uint32_t theta, limit;   /* limit: length of the open queue at which partners are looked for */
    uint32_t left;           /* queues that may still be made */
    uint32_t nqueues;        /* made */
    sk_shared base;          /* the base queue */
    sk_shared *first, *open; /* of the shared queues: the oldest in use, the one for new items */
    sk_bin any;              /* receives from any source, once there are partners */
    sk_scratch_bytes roomy;           /* what is not in a shared queue is counted here */
    sk_bin *live;            /* of the partners' queues */
    sk_partner *partners;    /* hashed, a power of two of them */
    uint32_t nslots;
    sk_bin **chain; /* of the side */
    sk_pnp_level *levels;
    size_t bytes;
} sk_pnp;

/* `budget`: how many queues for partners it may make; 0: it is a list. */
void sk_pnp_init(sk_pnp *p, uint32_t theta, uint32_t budget, sk_bin **chain);
void sk_pnp_clear(sk_pnp *p);
sk_item *sk_pnp_find(sk_pnp *p, sk_match_side side, const sk_item *item, uint64_t *looked);
void sk_pnp_add(sk_pnp *p, sk_item *item);

/* Of pnp_partner.c: the partner with this number, or NULL. */
const sk_partner *sk_pnp_partner(const sk_pnp *p, uint32_t source);
/* Make partners of the open queue's busy sources and a new level. False: there are none, or no
 * memory. */
bool sk_pnp_extract(sk_pnp *p);

#endif
