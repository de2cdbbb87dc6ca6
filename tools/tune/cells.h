/* cells.h: what `skein tune` measures: calls, with the algorithms that are worth trying by the predicted times. */
#ifndef SK_TUNE_CELLS_H
#define SK_TUNE_CELLS_H

#include "price/prices.h"
#include "select/select.h"
#include "strlist.h"

/* A call: bytes as in coll/colls.def. */
typedef struct sk_tune_cell {
    sk_coll coll;
    int64_t bytes;
    int ranks, nodes;
    double seconds;    /* that a program spent in such calls; 0: not known */
    const char *algos; /* "shm+ring": to be tried beside the host */
    double apart;      /* predicted time of the second best over that of the best; 1: not known */
} sk_tune_cell;

/* Fills in algos and apart, and sorts: first where a program spends its time, then where predictions are close. */
void sk_tune_cells_order(sk_arena *a, const sk_select *select, const sk_prices *prices,
                         sk_tune_cell *cells, int n);

/* For the measuring program: see bench/mpi/tune.h. */
const char *sk_tune_cells_text(sk_arena *a, const sk_tune_cell *cells, int n);

#endif
