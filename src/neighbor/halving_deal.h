/* halving_deal.h: the agent selection of one half, seen by one rank: Algorithm 2 for those that
 * look for an agent, Algorithm 3 for those asked. Only for the files halving*.c. */
#ifndef SK_HALVING_DEAL_H
#define SK_HALVING_DEAL_H

#include "neighbor/halving_due.h"
#include "neighbor/halving_split.h"
#include "neighbor/negotiation.h"

typedef struct sk_deal {
    bool origin;     /* I look for an agent; else I may become one */
    int n;           /* ranks that I could deal with */
    sk_choice *list; /* these, the best first */
    uint8_t *state;  /* by rank: what passed between us */
    int best;        /* in the list: those before it are out of the question */
    int partner;     /* -1: none yet */
    int phase;       /* that of the signals */
} sk_deal;

sk_status sk_deal_init(sk_deal *d, int nranks);
void sk_deal_free(sk_deal *d);

/* The first pass, with the ranks in d->list[0 .. n - 1] in any order. It is over when nothing is
 * due any more. */
sk_status sk_deal_begin(sk_deal *d, sk_channel *t, sk_due *due, int phase, bool origin, int n);
/* The second: those that went without an agent ask again; every agent takes one more. */
sk_status sk_deal_again(sk_deal *d, sk_channel *t, sk_due *due, int phase);
sk_status sk_deal_take(sk_deal *d, sk_channel *t, int from, const int32_t *words, size_t n);

#endif
