/* halving_near.h: the whole graph by places, and how much ranks have in common: whom a rank could
 * take as its agent. Only for the files halving*.c. */
#ifndef SK_HALVING_NEAR_H
#define SK_HALVING_NEAR_H

#include "neighbor/halving_split.h"
#include "topo/global_graph.h"

typedef struct sk_near {
    const sk_machine *machine;
    int64_t *out_first, *in_first; /* nranks + 1 */
    int *out, *in;                 /* places of targets and of sources, ascending */
    uint64_t *rows;                /* targets as bits, by place; NULL when lists are faster */
    size_t words;                  /* of a row */
    uint64_t *mask;                /* a row, for use in between */
    int *count;                    /* by place, all 0 in between */
} sk_near;

sk_status sk_near_init(sk_near *near, const sk_global_graph *g, const sk_machine *m);
void sk_near_free(sk_near *near);

/* The candidates of the rank at place `a` for an agent in `to`, with what they have in common with
 * it: targets in `to`, and one more when they are targets themselves. At least 1; in no order. Into
 * room for one per place of `to`; the result is their number. */
int sk_near_candidates(sk_near *near, int a, sk_half to, sk_choice *out);

/* The first of out[from] to out[to - 1] that is `place` or beyond; `to` when none is. */
int64_t sk_near_find(const sk_near *near, int64_t from, int64_t to, int place);

#endif
