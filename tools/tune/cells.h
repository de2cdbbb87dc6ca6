/* cells.h: what `skein tune` measures: calls, with the algorithms that are worth trying by the predicted times. */
#ifndef SK_TUNE_CELLS_H
#define SK_TUNE_CELLS_H

#include "explain/pricing.h"
#include "strlist.h"

/* A call: bytes as in coll/colls.def. */
typedef struct sk_tune_cell {
    sk_coll coll;
    sk_form form;
    int64_t bytes;
    int ranks, nodes;
    double seconds;    /* that a program spent in such calls; 0: not known */
    const char *algos; /* "shm+ring": to be tried beside the host */
    double apart;      /* predicted time of the second best over that of the best; 1: not known */
} sk_tune_cell;

/* What times are predicted from. */
typedef struct sk_tune_model {
    const sk_select *select;
    sk_prices prices;
    int cores; /* of a node, if the prices say nothing else */
} sk_tune_model;

/* The predictions for a call. */
typedef struct sk_tune_prediction {
    sk_pricing pricing;
    sk_machine *machine; /* NULL: there are none */
} sk_tune_prediction;
sk_tune_prediction sk_tune_predict(const sk_tune_model *m, const sk_tune_cell *c);

/* ns of a call among many in a row, as they are measured; 0: not known. */
double sk_tune_predicted(sk_pricing *x, const sk_algo *a);

/* Fills in algos and apart, and sorts: first where a program spends its time, then where predictions are close.
 * `all`: every algorithm is to be tried. */
void sk_tune_cells_order(sk_arena *a, const sk_tune_model *m, sk_tune_cell *cells, int n, bool all);

/* For the measuring program: see bench/mpi/tune.h. */
const char *sk_tune_cells_text(sk_arena *a, const sk_tune_cell *cells, int n);

#endif
