/* spec_moore.c: Moore neighbourhoods: all ranks within R steps in each of D dimensions of a
 * periodic grid. (2R+1)^D - 1 neighbours, fewer where a side is shorter than the window: a window
 * that goes round a whole side counts each coordinate once. Ranks are counted in row-major order.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "lab/graph/spec_kind.h"

enum { MAX_DIMS = 16, NUMBER_LENGTH = 24 };

typedef struct moore_graph {
    int ndims, radius;
    int side[MAX_DIMS];
} moore_graph;

/* n as a product of sides that do not grow and do not exceed `most`; as equal as can be: the
 * longest side as short as possible, then the next... */
static bool split(int n, int ndims, int most, int *side)
{
    if (ndims == 0)
        return n == 1;
    for (int s = 1; s <= most && s <= n; s++) {
        if (n % s)
            continue;
        /* With s the longest, the product of all is at most s^ndims. */
        int64_t product = 1;
        for (int i = 0; i < ndims && product < n; i++)
            product *= s;
        side[0] = s;
        if (product >= n && split(n / s, ndims - 1, s, side + 1))
            return true;
    }
    return false;
}

static sk_status make(const char *args, int nranks, void **state, char *err, size_t size)
{
    char first[NUMBER_LENGTH] = "";
    size_t len = strcspn(args, ",");
    int64_t ndims, radius;
    if (len < sizeof first)
        memcpy(first, args, len);
    if (!args[len] || !sk_read_number(first, false, &ndims) ||
        !sk_read_number(args + len + 1, false, &radius)) {
        snprintf(err, size, "moore:D,R needs two whole numbers, not '%s'", args);
        return SK_BADARG;
    }
    if (ndims < 1 || ndims > MAX_DIMS) {
        snprintf(err, size, "D of moore:D,R is from 1 to %d, not %" PRId64, MAX_DIMS, ndims);
        return SK_BADARG;
    }
    if (radius < 1 || radius > INT32_MAX) {
        snprintf(err, size, "R of moore:D,R is from 1 to %d, not %" PRId64, INT32_MAX, radius);
        return SK_BADARG;
    }
    moore_graph *g = calloc(1, sizeof *g);
    if (!g)
        return SK_NOMEM;
    *g = (moore_graph){.ndims = (int)ndims, .radius = (int)radius};
    split(nranks, g->ndims, nranks, g->side); /* n, 1, 1... is always one way */
    *state = g;
    return SK_OK;
}

/* Is coordinate x of a side within the window round the coordinate `at`? */
static bool intra(int x, int at, int side, int radius)
{
    int apart = abs(x - at);
    return apart <= radius || side - apart <= radius;
}

/* Dimension by dimension: the ranks found so far are those of the smaller grid of the dimensions
 * before; each becomes one rank per coordinate in the window. From the back, so that they can grow
 * in place; ascending all along. */
static int widen(int *ranks, int n, int side, int at, int radius)
{
    int window = 0;
    for (int x = 0; x < side; x++)
        window += intra(x, at, side, radius);
    int *end = ranks + (int64_t)n * window;
    for (int i = n - 1; i >= 0; i--) {
        int base = ranks[i];
        for (int x = side - 1; x >= 0; x--)
            if (intra(x, at, side, radius))
                *--end = base * side + x;
    }
    return n * window;
}

static int list(const void *state, int rank, bool in, int *out)
{
    (void)in; /* near is near both ways */
    const moore_graph *g = state;
    int at[MAX_DIMS];
    for (int i = g->ndims - 1, rest = rank; i >= 0; i--) {
        at[i] = rest % g->side[i];
        rest /= g->side[i];
    }
    int n = 1, m = 0;
    out[0] = 0;
    for (int i = 0; i < g->ndims; i++)
        n = widen(out, n, g->side[i], at[i], g->radius);
    for (int i = 0; i < n; i++)
        if (out[i] != rank)
            out[m++] = out[i];
    return m;
}

const sk_spec_kind sk_spec_moore = {
    .name = "moore", .form = "moore:D,R", .make = make, .drop = free, .list = list};
