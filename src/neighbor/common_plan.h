/* common_plan.h: all ranks at once, with the whole graph at hand. Only for the files common*.c. */
#ifndef SK_COMMON_PLAN_H
#define SK_COMMON_PLAN_H

#include "neighbor/common_circle.h"
#include "neighbor/common_mate.h"

typedef struct sk_common_plan {
    int n;
    sk_rules rules;
    sk_pattern **want; /* of each rank; NULL: not wanted */

    sk_arena *arena; /* of this level; the following hang on it, by rank */
    sk_holds *holds; /* of each target */
    int **target;    /* what each rank holds for others, ascending */
    int *ntargets;
    sk_matrix **matrix;
    bool *looks; /* has friends still */
    sk_mate *mate;
    sk_circle *circle;
    uint64_t *columns; /* bits that the matrices share; NULL: each has its own */
    int *unit;         /* leaders that look for friends */
    int nunits;
    uint64_t *gone;
    bool again; /* bundles of this level are combined in another */

    sk_arena *later; /* the same of the next level */
    sk_holds *next;
    int **onload;
    int *nonloads;
} sk_common_plan;

sk_status sk_common_plan_room(sk_common_plan *s); /* all but the bits of the matrices */
sk_status sk_common_plan_bits(sk_common_plan *s);

/* Ranks that look for friends find them: all rounds of one iteration. */
void sk_common_pair(sk_common_plan *s, int iteration);

sk_status sk_common_plan_make(const sk_global_graph *g, const sk_machine *m,
                              const sk_pattern_opts *o, const int *ranks, int n, sk_pattern **out);

#endif
