/* compare.h: two runs side by side. */
#ifndef SK_COMPARE_H
#define SK_COMPARE_H

#include "report/run_data.h"

typedef struct sk_pair { /* a collective and size of either run, or of both */
    const char *coll, *size;
    const sk_run_cell *was, *now; /* NULL: not in that run */
} sk_pair;

/* What a run spent in it; 0 if it has none. */
double sk_pair_seconds(const sk_run_cell *c);

/* The largest difference first. */
const sk_pair *sk_pairs(sk_arena *a, const sk_run_data *was, const sk_run_data *now, int *n);

typedef struct sk_figure { /* of both runs */
    const char *name, *was, *now, *change;
} sk_figure;
const sk_figure *sk_figures(sk_arena *a, const sk_run_data *was, const sk_run_data *now, int *n);

/* "x 0.80", or "-" if one of them is 0. */
const char *sk_show_change(sk_arena *a, double was, double now);

/* What differs so that the comparison may mean little; NULL: nothing. */
const char *sk_compare_warning(sk_arena *a, const sk_run_data *was, const sk_run_data *now);

#endif
