/* halving_match.h: agents for all ranks of a half at once, as Algorithms 2 and 3 find them by
 * signals. Only for the files halving*.c. */
#ifndef SK_HALVING_MATCH_H
#define SK_HALVING_MATCH_H

#include "neighbor/halving_near.h"

typedef struct sk_match sk_match;

sk_match *sk_match_new(sk_near *near); /* NULL: out of memory */
void sk_match_free(sk_match *m);       /* NULL is fine */

/* agent[a], a place in `to`, of every place a in `from`; -1: it has none. */
void sk_match_agents(sk_match *m, sk_half from, sk_half to, int *agent);

#endif
