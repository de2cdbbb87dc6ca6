/* spec.c: graphs from a word: the kinds of graphs, and from their lists to graphs. */
#include "lab/graph/spec.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/random.h"
#include "base/word.h"
#include "lab/graph/mtx.h"

typedef struct sk_spec_kind {
    const char *name, *form; /* "random", "random:DELTA[,SEED]" */

    /* From the text behind the colon. On failure a message is in err, but not when out of memory.
     */
    sk_status (*make)(const char *args, int nranks, void **state, char *err, size_t size);
    void (*drop)(void *state);

    /* The neighbours of a rank, ascending, each once, not itself, into an array of one int per rank.
     * Returns their number. */
    int (*list)(const void *state, int rank, bool in, int *out);
} sk_spec_kind;

/* ---- random: every edge with the same probability (Erdos-Renyi) ----
 * A hash of the seed and the two ends decides whether there is an edge. So any rank can make its
 * lists, incoming ones too, in O(n) and without memory, and all ranks agree. */

typedef struct random_graph {
    int nranks;
    uint64_t key, bound; /* there is an edge when the 53 upper bits of the hash are below bound */
} random_graph;

enum { DEFAULT_SEED = 1 };

static inline bool edge(const random_graph *g, int from, int to)
{
    uint64_t ends = (uint64_t)from << 32 | (uint32_t)to;
    return sk_random_mix(g->key + ends * 0x9e3779b97f4a7c15u) >> 11 < g->bound;
}

static sk_status random_make(const char *args, int nranks, void **state, char *err, size_t size)
{
    char *end;
    double delta = strtod(args, &end);
    int64_t seed = DEFAULT_SEED;
    if (end == args || (*end && *end != ',')) {
        snprintf(err, size, "DELTA of random:DELTA[,SEED] is a number from 0 to 1, not '%s'", args);
        return SK_BADARG;
    }
    if (!(delta >= 0 && delta <= 1)) {
        snprintf(err, size, "DELTA of random:DELTA[,SEED] is from 0 to 1, not %g", delta);
        return SK_BADARG;
    }
    if (*end && !sk_read_number(end + 1, false, &seed)) {
        snprintf(err, size, "SEED of random:DELTA[,SEED] is a whole number, not '%s'", end + 1);
        return SK_BADARG;
    }
    random_graph *g = calloc(1, sizeof *g);
    if (!g)
        return SK_NOMEM;
    *g = (random_graph){
        .nranks = nranks,
        .key = sk_random_mix((uint64_t)seed + 0x9e3779b97f4a7c15u),
        .bound = (uint64_t)(delta * 0x1p53),
    };
    *state = g;
    return SK_OK;
}

static int random_list(const void *state, int rank, bool in, int *out)
{
    const random_graph *g = state;
    int n = 0;
    for (int other = 0; other < g->nranks; other++) {
        bool there = in ? edge(g, other, rank) : edge(g, rank, other);
        out[n] = other;
        n += there && other != rank;
    }
    return n;
}

static const sk_spec_kind sk_spec_random = {.name = "random",
                                            .form = "random:DELTA[,SEED]",
                                            .make = random_make,
                                            .drop = free,
                                            .list = random_list};

/* ---- moore: all ranks within R steps in each of D dimensions of a periodic grid ----
 * (2R+1)^D - 1 neighbours, fewer where a side is shorter than the window: a window that covers a
 * whole side counts each coordinate once. Ranks are in row-major order. */

enum { MAX_DIMS = 16, NUMBER_LENGTH = 24 };

typedef struct moore_graph {
    int ndims, radius;
    int side[MAX_DIMS];
} moore_graph;

/* n as a product of sides in descending order, none longer than `most`, as equal as possible: the
 * longest side as short as possible, then the next, and so on. */
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

static sk_status moore_make(const char *args, int nranks, void **state, char *err, size_t size)
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
static bool in_window(int x, int at, int side, int radius)
{
    int apart = abs(x - at);
    return apart <= radius || side - apart <= radius;
}

/* Add a dimension: the ranks so far are those of the grid of the dimensions before; each becomes one
 * rank per coordinate in the window. From the back, so that the list grows in place and stays
 * ascending. */
static int widen(int *ranks, int n, int side, int at, int radius)
{
    int window = 0;
    for (int x = 0; x < side; x++)
        window += in_window(x, at, side, radius);
    int *end = ranks + (int64_t)n * window;
    for (int i = n - 1; i >= 0; i--) {
        int base = ranks[i];
        for (int x = side - 1; x >= 0; x--)
            if (in_window(x, at, side, radius))
                *--end = base * side + x;
    }
    return n * window;
}

static int moore_list(const void *state, int rank, bool in, int *out)
{
    (void)in; /* the graph is symmetric */
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

static const sk_spec_kind sk_spec_moore = {
    .name = "moore", .form = "moore:D,R", .make = moore_make, .drop = free, .list = moore_list};

/* ---- matrix: the graph of Z = X * Y with a sparse X, all three in block rows ----
 * (distance-halving paper, VII-C) Rank r needs the rows of Y that its nonzeros multiply, so its
 * sources are the owners of the columns in which its rows have nonzeros. Blocks of rows are as equal
 * as possible, the longer ones first; with more ranks than rows the last ranks own nothing. */

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

/* The ranks that a rank needs, into `out`. `seen[i]` is 1 + the last rank that needs rank i. */
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

/* An edge of this graph goes from a rank to one it needs: the transpose of the wanted graph. */
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

static sk_status matrix_make(const char *file, int nranks, void **state, char *err, size_t size)
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

static void matrix_drop(void *state)
{
    sk_global_graph_free(state);
}

static int matrix_list(const void *state, int rank, bool in, int *out)
{
    if (in)
        sk_global_graph_targets(state, rank, out);
    else
        sk_global_graph_sources(state, rank, out);
    return sk_global_graph_degree(state, rank, !in);
}

static const sk_spec_kind sk_spec_matrix = {.name = "matrix",
                                            .form = "matrix:FILE",
                                            .make = matrix_make,
                                            .drop = matrix_drop,
                                            .list = matrix_list};

/* ---- from the word to a graph ---- */

struct sk_spec {
    int nranks;
    const sk_spec_kind *kind;
    void *state;
};

enum { NKINDS = 3 };
static const sk_spec_kind *const kinds[NKINDS] = {&sk_spec_random, &sk_spec_moore, &sk_spec_matrix};

static const sk_spec_kind *find(const char *name, size_t len, char *err, size_t size)
{
    const char *names[NKINDS + 1] = {NULL};
    for (int i = 0; i < NKINDS; i++) {
        names[i] = kinds[i]->name;
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return kinds[i];
    }
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    const char *nearest = sk_nearest(word, names);
    for (int i = 0; i < NKINDS; i++)
        if (names[i] == nearest)
            snprintf(err, size, "there is no graph '%s': did you mean %s?", word, kinds[i]->form);
    return NULL;
}

sk_status sk_spec_new(const char *text, int nranks, sk_spec **out, char *err, size_t size)
{
    if (nranks < 1) {
        snprintf(err, size, "a graph needs at least one rank, not %d", nranks);
        return SK_BADARG;
    }
    size_t len = strcspn(text, ":");
    const sk_spec_kind *kind = find(text, len, err, size);
    if (!kind)
        return SK_BADARG;
    if (!text[len] || !text[len + 1]) {
        snprintf(err, size, "'%s' says too little: %s", text, kind->form);
        return SK_BADARG;
    }

    sk_spec *s = calloc(1, sizeof *s);
    sk_status st = SK_NOMEM;
    if (s) {
        *s = (sk_spec){.nranks = nranks, .kind = kind};
        st = kind->make(text + len + 1, nranks, &s->state, err, size);
    }
    if (st == SK_NOMEM)
        snprintf(err, size, "%s", sk_status_text(st));
    if (st == SK_OK)
        *out = s;
    else
        free(s);
    return st;
}

void sk_spec_free(sk_spec *s)
{
    if (!s)
        return;
    s->kind->drop(s->state);
    free(s);
}

static int *new_list(const sk_spec *s)
{
    return calloc((size_t)s->nranks, sizeof(int));
}

sk_status sk_spec_graph(const sk_spec *s, int rank, sk_graph **out)
{
    if (rank < 0 || rank >= s->nranks)
        return SK_BADARG;
    int *in = new_list(s), *to = new_list(s);
    sk_status st = SK_NOMEM;
    if (in && to) {
        int nin = s->kind->list(s->state, rank, true, in);
        int nto = s->kind->list(s->state, rank, false, to);
        st = sk_graph_new(s->nranks, rank, nin, in, nto, to, false, out);
    }
    free(in);
    free(to);
    return st;
}

/* Two passes: the first counts the edges. */
sk_status sk_spec_whole(const sk_spec *s, sk_global_graph **out)
{
    int *to = new_list(s);
    sk_global_graph *w = NULL;
    int64_t edges = 0;
    sk_status st = SK_NOMEM;
    if (!to)
        goto out;
    for (int rank = 0; rank < s->nranks; rank++)
        edges += s->kind->list(s->state, rank, false, to);
    w = sk_global_graph_new(s->nranks, edges);
    if (!w)
        goto out;
    st = SK_OK;
    for (int rank = 0; rank < s->nranks && st == SK_OK; rank++)
        st = sk_global_graph_add(w, rank, to, s->kind->list(s->state, rank, false, to));
    if (st == SK_OK)
        st = sk_global_graph_freeze(w);
    if (st == SK_OK) {
        *out = w;
        w = NULL;
    }
out:
    free(to);
    sk_global_graph_free(w);
    return st;
}
