/* cart.c: see cart.h. */
#include "lab/graph/cart.h"

#include <limits.h>
#include <stdlib.h>

/* The rank one step along a dimension in which neighbours are `stride` ranks apart. */
static int step(int rank, int size, bool periodic, int stride, int by)
{
    int at = rank / stride % size, to = at + by;
    if (to < 0 || to >= size) {
        if (!periodic)
            return SK_PROC_NULL;
        to = (to + size) % size;
    }
    return rank + (to - at) * stride;
}

sk_status sk_graph_cart(int ndims, const int *dims, const int *periods, int rank, sk_graph **out)
{
    if (ndims < 0 || ndims > INT_MAX / 2)
        return SK_BADARG;
    int64_t nranks = 1;
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 1)
            return SK_BADARG;
        nranks *= dims[i];
        if (nranks > INT_MAX)
            return SK_TOOBIG;
    }
    if (rank < 0 || rank >= nranks)
        return SK_BADARG;

    int *edges = calloc(ndims ? 2 * (size_t)ndims : 1, sizeof *edges);
    if (!edges)
        return SK_NOMEM;
    int stride = (int)nranks;
    for (int i = 0; i < ndims; i++) {
        stride /= dims[i];
        for (int up = 0; up < 2; up++)
            edges[2 * i + up] = step(rank, dims[i], periods[i], stride, up ? 1 : -1);
    }
    sk_status st = sk_graph_new((int)nranks, rank, 2 * ndims, edges, 2 * ndims, edges, true, out);
    free(edges);
    return st;
}
