/* mtx.h: sparse matrices from Matrix Market files: coordinate; real, integer or pattern; general,
 * symmetric or skew-symmetric. Symmetric ones are unfolded. A malformed file gets a message with
 * the number of the line. */
#ifndef SK_MTX_H
#define SK_MTX_H

#include <stddef.h>
#include <stdint.h>

/* Compressed rows: the entries of row i are [row[i], row[i + 1]), in ascending order of columns.
 * Entries that the file gives twice are added up. */
typedef struct sk_mtx {
    int64_t nrows, ncols, nnz;
    int64_t *row;
    int32_t *col;
    double *val; /* 1 for patterns */
} sk_mtx;

/* 0, or -1 with a message "FILE:LINE: what is wrong" in err. */
int sk_mtx_read(const char *file, sk_mtx *out, char *err, size_t size);
void sk_mtx_free(sk_mtx *m);

#endif
