/* halving_weigh.h: what one rank learns of the ranks that send where it sends. Only for the files
 * halving*.c. */
#ifndef SK_HALVING_WEIGH_H
#define SK_HALVING_WEIGH_H

#include "neighbor/halving_due.h"
#include "neighbor/halving_split.h"
#include "neighbor/negotiation.h"
#include "topo/graph.h"

/* Another rank stands in my opposite half in one step only, so one number each is enough for what
 * it has in common with me when I look for an agent, and when it does. */
typedef struct sk_weigh {
    const sk_graph *graph;
    int8_t *step;       /* by rank: in which step we part; `steps`: we share the socket */
    int32_t *as_agent;  /* by rank: its weight as an agent of mine, */
    int32_t *as_origin; /* and as an origin of mine */
    int *list;          /* sources of a target, for use in between */
} sk_weigh;

sk_status sk_weigh_init(sk_weigh *w, const sk_graph *g, const sk_halving *h);
void sk_weigh_free(sk_weigh *w);

/* Tell my sources who they all are, and hear the same from my targets. */
sk_status sk_weigh_tell(const sk_weigh *w, sk_channel *t, sk_due *due, int phase);
sk_status sk_weigh_take(sk_weigh *w, int from, const int32_t *words, size_t n);

/* The candidates in a half, where the graph's rank is the origin or the agent; how many. */
int sk_weigh_candidates(const sk_weigh *w, const sk_machine *m, sk_half other, bool origin,
                        sk_choice *out);

#endif
