/* mtx_rows.c: sort entries by row and column, and add up those that stand in the same place. Two
 * passes of counting sort, first by column, then by row: O(entries + rows + columns). */
#include "lab/graph/mtx_rows.h"

#include <stdlib.h>
#include <string.h>

static void *room(int64_t n, size_t size)
{
    return calloc(n ? (size_t)n : 1, size);
}

/* Where the entries of each column go. */
static int64_t *column_starts(int64_t ncols, const sk_mtx_entry *entries, int64_t n)
{
    int64_t *start = room(ncols + 1, sizeof *start);
    if (!start)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        start[entries[i].col + 1]++;
    for (int64_t j = 0; j < ncols; j++)
        start[j + 1] += start[j];
    return start;
}

/* m->row[i] ends as the start of row i; on the way row[i + 1] is where its next entry goes. */
static void deal_rows(sk_mtx *m, const sk_mtx_entry *sorted, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (sorted[i].row + (int64_t)2 <= m->nrows)
            m->row[sorted[i].row + 2]++;
    for (int64_t i = 2; i <= m->nrows; i++)
        m->row[i] += m->row[i - 1];
    for (int64_t i = 0; i < n; i++) {
        int64_t at = m->row[sorted[i].row + 1]++;
        m->col[at] = sorted[i].col;
        m->val[at] = sorted[i].val;
    }
}

static void add_up(sk_mtx *m)
{
    int64_t to = 0, from = 0;
    for (int64_t i = 0; i < m->nrows; i++) {
        int64_t first = to;
        for (; from < m->row[i + 1]; from++) {
            if (to > first && m->col[to - 1] == m->col[from]) {
                m->val[to - 1] += m->val[from];
                continue;
            }
            m->col[to] = m->col[from];
            m->val[to++] = m->val[from];
        }
        m->row[i + 1] = to;
    }
    m->nnz = to;
}

int sk_mtx_rows(sk_mtx *m, const sk_mtx_entry *entries, int64_t n)
{
    int64_t *start = column_starts(m->ncols, entries, n);
    sk_mtx_entry *sorted = room(n, sizeof *sorted);
    m->row = room(m->nrows + 1, sizeof *m->row);
    m->col = room(n, sizeof *m->col);
    m->val = room(n, sizeof *m->val);
    int result = -1;
    if (start && sorted && m->row && m->col && m->val) {
        for (int64_t i = 0; i < n; i++)
            sorted[start[entries[i].col]++] = entries[i];
        deal_rows(m, sorted, n);
        add_up(m);
        result = 0;
    } else {
        sk_mtx_free(m);
    }
    free(start);
    free(sorted);
    return result;
}

void sk_mtx_free(sk_mtx *m)
{
    free(m->row);
    free(m->col);
    free(m->val);
    memset(m, 0, sizeof *m);
}
