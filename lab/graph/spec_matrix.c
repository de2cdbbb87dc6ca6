/* spec_matrix.c: the graph of Z = X * Y with a sparse X, all three in block rows (distance-halving
 * paper, VII-C): rank r needs the rows of Y that its nonzeros multiply, so its sources are the
 * owners of the columns in which its rows have nonzeros. Rows are dealt out in blocks as equal as
 * possible, the longer ones first; with more ranks than rows the last ones own nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/graph/mtx.h"
#include "lab/graph/spec_kind.h"
#include "topo/global_graph.h"

static int64_t first_row(int64_t nrows, int nranks, int64_t rank)
{
    int64_t each = nrows / nranks, longer = nrows % nranks;
    return rank * each + (rank < longer ? rank : longer);
}

static int owner(int64_t nrows, int nranks, int64_t row)
{
    int64_t each = nrows / nranks, longer = nrows % nranks, start = longer * (each + 1);
    return (int)(row < start ? row / (each + 1) : longer + (row - start) / each);
}

/* Who is needed by a rank, into `out`. `seen` holds, for each rank, the last one that needs it. */
static int needed_by(const sk_mtx *m, int nranks, int rank, int *seen, int *out)
{
    int64_t from = m->row[first_row(m->nrows, nranks, rank)];
    int64_t to = m->row[first_row(m->nrows, nranks, rank + (int64_t)1)];
    for (int64_t i = from; i < to; i++)
        seen[owner(m->nrows, nranks, m->col[i])] = rank + 1;
    int n = 0;
    for (int other = 0; other < nranks && from < to; other++)
        if (seen[other] == rank + 1 && other != rank)
            out[n++] = other;
    return n;
}

/* An edge of this graph goes from a rank to one it needs: the transposed of what is asked for. */
static sk_status needs(const sk_mtx *m, int nranks, sk_global_graph **out)
{
    int64_t pairs = (int64_t)nranks * (nranks - 1);
    int *seen = calloc((size_t)nranks, sizeof *seen), *list = calloc((size_t)nranks, sizeof *list);
    sk_global_graph *w = sk_global_graph_new(nranks, m->nnz < pairs ? m->nnz : pairs);
    sk_status st = seen && list && w ? SK_OK : SK_NOMEM;
    for (int rank = 0; rank < nranks && st == SK_OK; rank++)
        st = sk_global_graph_add(w, rank, list, needed_by(m, nranks, rank, seen, list));
    if (st == SK_OK)
        st = sk_global_graph_freeze(w);
    free(seen);
    free(list);
    if (st == SK_OK)
        *out = w;
    else
        sk_global_graph_free(w);
    return st;
}

static sk_status make(const char *file, int nranks, void **state, char *err, size_t size)
{
    sk_mtx m;
    if (sk_mtx_read(file, &m, err, size))
        return SK_BADARG;
    sk_global_graph *w = NULL;
    sk_status st = SK_BADARG;
    if (m.nrows != m.ncols)
        snprintf(err, size, "%s: has %" PRId64 " rows and %" PRId64 " columns; it must be square",
                 file, m.nrows, m.ncols);
    else
        st = needs(&m, nranks, &w);
    sk_mtx_free(&m);
    if (st == SK_OK)
        *state = w;
    return st;
}

static void drop(void *state)
{
    sk_global_graph_free(state);
}

static int list(const void *state, int rank, bool in, int *out)
{
    if (in)
        sk_global_graph_targets(state, rank, out);
    else
        sk_global_graph_sources(state, rank, out);
    return sk_global_graph_degree(state, rank, !in);
}

const sk_spec_kind sk_spec_matrix = {
    .name = "matrix", .form = "matrix:FILE", .make = make, .drop = drop, .list = list};
