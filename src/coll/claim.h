/* claim.h: what an algorithm says that it costs: sk_algo.claim. The test `cost` builds the
 * schedules of all ranks, counts, and compares. It fails for an algorithm without a claim.
 *
 * Claims are for contiguous data, because other data may need to be packed. */
#ifndef SK_CLAIM_H
#define SK_CLAIM_H

#include "coll/algo.h"

enum { SK_UNCLAIMED = -1 };

/* What is counted, as seen by one rank. */
typedef struct sk_cost_case {
    const sk_call *call; /* of this rank */
    int64_t p, rank, root;
    bool at_root;
    int64_t lg, fl; /* ceil and floor of lg p */
    bool pow2;      /* p is a power of two */
    int64_t n, b;   /* data bytes: of the vector, or of all blocks together; n/p, or of a block */
    bool is_short;  /* the first of the two sizes that are counted on each machine */
    int64_t nodes, leaders, root_node; /* nodes, leaders of each, ranks on the root's node */
} sk_cost_case;

/* All SK_UNCLAIMED until the claim sets them. */
typedef struct sk_cost {
    /* of this rank */
    int64_t sends, recvs, send_bytes, recv_bytes;
    int64_t epochs, copies, copy_bytes, takes, take_bytes;
    int64_t reduces, rounds, scratch;
    /* of all ranks together */
    int64_t steps, max_steps; /* the longest chain of rounds that wait for each other; at most */
    int64_t all_sends, all_send_bytes, all_take_bytes;
    /* on several nodes, of all ranks together */
    int64_t off_sends, off_bytes, node_sends; /* between nodes, and messages within them */
    int64_t max_epochs;                       /* of the rank with the most */
    int64_t max_senders;                      /* at most so many ranks send to other nodes */
    int64_t overlaps; /* 1: a node phase runs beside the phase between nodes */
} sk_cost;

static inline void sk_claim_messages(sk_cost *c, int64_t sends, int64_t recvs, int64_t send_bytes,
                                     int64_t recv_bytes)
{
    c->sends = sends;
    c->recvs = recvs;
    c->send_bytes = send_bytes;
    c->recv_bytes = recv_bytes;
}

/* Through shared memory, without messages and without scratch. */
static inline void sk_claim_moves(sk_cost *c, int64_t epochs, int64_t copies, int64_t copy_bytes,
                                  int64_t takes, int64_t take_bytes)
{
    c->sends = c->recvs = c->scratch = 0;
    c->epochs = epochs;
    c->copies = copies;
    c->copy_bytes = copy_bytes;
    c->takes = takes;
    c->take_bytes = take_bytes;
}

static inline void sk_claim_off_node(const sk_cost_case *k, sk_cost *c, int64_t leaders,
                                     int64_t sends, int64_t bytes)
{
    c->off_sends = sends;
    c->off_bytes = bytes;
    c->max_senders = leaders * k->nodes;
}

/* On a node: `epochs`, where local ranks share memory, otherwise `sends` messages. */
static inline void sk_claim_node(const sk_cost_case *k, sk_cost *c, int64_t epochs, int64_t sends)
{
    bool shared = k->call->slot_bytes > 0;
    c->max_epochs = shared ? epochs : 0;
    c->node_sends = shared ? 0 : sends;
}

static inline int64_t sk_claim_ceil(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

#endif
