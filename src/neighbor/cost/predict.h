/* predict.h: the price of a pattern before it is made, from the size of the graph alone: equations
 * 1 to 3 of the distance-halving paper, and the same way of thinking for the other patterns. */
#ifndef SK_PREDICT_H
#define SK_PREDICT_H

#include "neighbor/cost/model.h"
#include "neighbor/method.h"

typedef struct sk_graph_size { /* agreed by all ranks */
    int64_t edges;             /* pairs in all */
    int64_t most;              /* largest number of sources or targets of a rank */
    int64_t intra[SK_NLEVELS]; /* pairs by level */
} sk_graph_size;

double sk_equation_off(int n, int L, double delta);                /* 1 */
double sk_equation_in(int n, int L, double delta);                 /* 2 */
double sk_equation_in_bytes(int n, int L, double delta, double m); /* 3 */

/* Expected load of the busiest rank. */
sk_load sk_predict(sk_method_id method, const sk_machine *m, const sk_graph_size *g,
                   const sk_pattern_opts *o);

#endif
