/* mtx_rows.h: entries in any order become rows. */
#ifndef SK_MTX_ROWS_H
#define SK_MTX_ROWS_H

#include "lab/graph/mtx.h"

typedef struct sk_mtx_entry {
    int32_t row, col; /* from 0 */
    double val;
} sk_mtx_entry;

/* 0, or -1 when out of memory. m->nrows and m->ncols are set; its lists are made. */
int sk_mtx_rows(sk_mtx *m, const sk_mtx_entry *entries, int64_t n);

#endif
