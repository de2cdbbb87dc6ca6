/* halving_hand.h: the blocks that one rank holds, and how they are handed over: to the agent of a
 * step (the paper's descriptor D) and, in the end, to the ranks of the socket. All of it is written
 * into the rank's pattern. Only for the files halving*.c. */
#ifndef SK_HALVING_HAND_H
#define SK_HALVING_HAND_H

#include "neighbor/halving_due.h"
#include "neighbor/halving_split.h"
#include "neighbor/negotiation.h"
#include "topo/graph.h"

typedef struct sk_hand {
    const sk_halving *rules;
    int rank, place;
    sk_block *held; /* to be passed on; none of them is for me */
    size_t nheld, cap;
    sk_pattern *made;
} sk_hand;

sk_status sk_hand_init(sk_hand *h, const sk_graph *g, const sk_halving *rules);
void sk_hand_free(sk_hand *h);

typedef struct sk_hand_step {
    int phase, step;
    sk_half mine, other;
    int agent;      /* rank, or -1 */
    int origins[2]; /* ranks that have me as their agent, or -1 */
} sk_hand_step;

sk_status sk_hand_over(sk_hand *h, sk_channel *t, sk_due *due, const sk_hand_step *s);
sk_status sk_hand_take(sk_hand *h, const sk_hand_step *s, int from, const int32_t *words, size_t n);

/* Inside the socket: tell every local rank what it gets from me, and hear the same. */
sk_status sk_hand_out(sk_hand *h, sk_channel *t, sk_due *due, int phase, sk_half socket);
void sk_hand_out_take(sk_hand *h, int from, const int32_t *words, size_t n);

#endif
