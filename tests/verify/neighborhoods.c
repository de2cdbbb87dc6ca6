#include "neighborhoods.h"

#include <stdlib.h>
#include <string.h>

#include "lab/graph/cart.h"
#include "shade.h"

const char *graph_kind_name(graph_kind kind)
{
    static const char *const names[GRAPH_COUNT] = {"empty",    "sparse", "dense", "simple", "star",
                                                   "complete", "grid",   "torus", "tube"};
    return names[kind];
}

static bool is_grid(graph_kind kind)
{
    return kind == GRAPH_GRID || kind == GRAPH_TORUS || kind == GRAPH_TUBE;
}

/* ---- grids ---- */

static sk_status make_grid(const neighborhoods *h, int rank, sk_graph **out)
{
    int side = 1;
    for (int i = 1; i * i <= h->p; i++)
        side = h->p % i == 0 ? i : side;
    bool thin = h->seed % 3 == 0; /* all ranks in one dimension */
    int dims[] = {h->p / (thin ? 1 : side), thin ? 1 : side, 1};
    bool torus = h->kind == GRAPH_TORUS;
    int periods[] = {torus, torus || h->kind == GRAPH_TUBE, torus};
    return sk_graph_cart(torus ? 3 : 2, dims, periods, rank, out);
}

/* ---- lists ---- */

static uint64_t dice(const neighborhoods *h, int a, int b)
{
    return shade_mix(((uint64_t)a * 4099 + (uint64_t)b) * 131 + h->seed * 7919u + 1);
}

/* How many edges lead from one rank to another. */
static int edges(const neighborhoods *h, int from, int to)
{
    uint64_t d = dice(h, from, to);
    switch (h->kind) {
    case GRAPH_SPARSE:
        return d % 10 < 2 ? 1 + (int)(d / 16 % 4 == 0) + (int)(d / 256 % 8 == 0) : 0;
    case GRAPH_DENSE:
        return d % 10 < 7 ? 1 + (d / 16 % 8 == 0) : 0;
    case GRAPH_SIMPLE:
        return from != to && d % 10 < 4;
    case GRAPH_STAR:
        return from != to && (from == h->p / 2 || to == h->p / 2);
    case GRAPH_COMPLETE:
        return 1;
    default:
        return 0;
    }
}

/* In an order of the rank's own. */
static void shuffle(const neighborhoods *h, int rank, int *list, int n)
{
    for (int i = n - 1; i > 0 && h->kind != GRAPH_SIMPLE; i--) {
        int k = (int)(dice(h, rank + 77, i) % (uint64_t)(i + 1)), t = list[i];
        list[i] = list[k];
        list[k] = t;
    }
}

static sk_status make_lists(const neighborhoods *h, int rank, sk_graph **out)
{
    enum { MOST = 3 };
    bool borders = h->kind == GRAPH_SPARSE || h->kind == GRAPH_DENSE;
    int *in = calloc(((size_t)h->p * MOST + 1) * 2, sizeof *in), nin = 0, nout = 0;
    int *to = in ? in + h->p * MOST + 1 : NULL;
    if (!in)
        return SK_NOMEM;
    for (int r = 0; r < h->p; r++) {
        for (int k = edges(h, r, rank); k > 0; k--)
            in[nin++] = r;
        for (int k = edges(h, rank, r); k > 0; k--)
            to[nout++] = r;
    }
    if (borders && dice(h, rank, -1) % 4 == 0)
        in[nin++] = SK_PROC_NULL;
    if (borders && dice(h, rank, -2) % 4 == 0)
        to[nout++] = SK_PROC_NULL;
    shuffle(h, rank, in, nin);
    shuffle(h, rank + h->p, to, nout);
    sk_status st = sk_graph_new(h->p, rank, nin, in, nout, to, false, out);
    free(in);
    return st;
}

/* ---- how edges match ---- */

/* Grids: what leaves below arrives from above. Lists: edge number k of a pair in one list is
 * number k in the other. */
static int match(const neighborhoods *h, int rank, int edge)
{
    const sk_graph *g = h->graph[rank];
    if (g->in[edge] == SK_PROC_NULL)
        return -1;
    if (is_grid(h->kind))
        return edge % 2 ? edge - 1 : edge + 1;
    int k = 0;
    for (int i = 0; i < edge; i++)
        k += g->in[i] == g->in[edge];
    const sk_graph *s = h->graph[g->in[edge]];
    for (int i = 0; i < s->nout; i++)
        if (s->out[i] == rank && k-- == 0)
            return i;
    return -1;
}

static bool make_graphs(neighborhoods *h)
{
    for (int r = 0; r < h->p; r++)
        if ((is_grid(h->kind) ? make_grid : make_lists)(h, r, &h->graph[r]) != SK_OK)
            return false;
    for (int r = 0; r < h->p; r++) {
        h->from[r] = calloc((size_t)h->graph[r]->nin + 1, sizeof(int));
        for (int i = 0; h->from[r] && i < h->graph[r]->nin; i++)
            h->from[r][i] = match(h, r, i);
        if (!h->from[r])
            return false;
    }
    return true;
}

/* ---- patterns ---- */

static bool make_patterns(neighborhoods *h)
{
    size_t n = (size_t)h->p;
    sk_global_graph *whole = sk_global_graph_new(h->p, (int64_t)h->p * h->p);
    int *ranks = calloc(n, sizeof *ranks);
    bool *idle = calloc(n, sizeof *idle), ok = whole && ranks && idle;
    for (int r = 0; r < h->p && ok; r++) {
        const sk_graph *g = h->graph[r];
        ranks[r] = r;
        idle[r] = neighborhoods_idle(h, r);
        ok = sk_global_graph_add(whole, r, g->targets, g->ntargets) == SK_OK;
    }
    ok = ok && sk_global_graph_freeze(whole) == SK_OK;
    sk_pattern_opts opts = {.theta = 1 + (int)(h->seed % 4),
                            .friends = 2 + (int)(h->seed / 4 % 3),
                            .cumulative = h->seed % 2,
                            .idle = idle};
    for (int m = 0; m < SK_NMETHODS && ok; m++) {
        const sk_method *method = sk_method_get((sk_method_id)m);
        h->pattern[m] = calloc(n, sizeof(sk_pattern *));
        ok = h->pattern[m] &&
             method->plan(whole, h->machine, &opts, ranks, h->p, h->pattern[m]) == SK_OK;
        for (int r = 0; r < h->p && ok; r++) {
            sk_load load = sk_load_of(h->pattern[m][r], h->machine);
            sk_load_join(&h->load[m], &load);
        }
    }
    sk_global_graph_free(whole);
    free(ranks);
    free(idle);
    return ok;
}

neighborhoods *neighborhoods_new(graph_kind kind, int p, unsigned seed)
{
    static const char *const machines[NEIGHBORHOODS_MACHINES] = {
        "node:* socket:2 core:2", "node:* socket:1 core:1", "node:* socket:2 core:3 map:shuffle:5",
        [NEIGHBORHOODS_ONE_NODE] = "node:1 socket:2 core:40", "node:* socket:1 core:5 map:rr"};
    char err[160];
    neighborhoods *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->kind = kind;
    h->p = p;
    h->seed = seed;
    h->on = machines[seed % NEIGHBORHOODS_MACHINES];
    h->graph = calloc((size_t)p, sizeof(sk_graph *));
    h->from = calloc((size_t)p, sizeof(int *));
    if (!h->graph || !h->from || !make_graphs(h) ||
        sk_machine_parse(h->on, p, &h->machine, err, sizeof err) != SK_OK || !make_patterns(h)) {
        neighborhoods_free(h);
        return NULL;
    }
    if (seed / NEIGHBORHOODS_MACHINES % 2) /* ranks share cores: blocks may go other ways */
        h->machine->cores = 1;
    return h;
}

void neighborhoods_free(neighborhoods *h)
{
    for (int r = 0; h && r < h->p; r++) {
        if (h->graph)
            sk_graph_free(h->graph[r]);
        if (h->from)
            free(h->from[r]);
        for (int m = 0; m < SK_NMETHODS; m++)
            if (h->pattern[m])
                sk_pattern_free(h->pattern[m][r]);
    }
    if (!h)
        return;
    for (int m = 0; m < SK_NMETHODS; m++)
        free(h->pattern[m]);
    free(h->graph);
    free(h->from);
    sk_machine_free(h->machine);
    free(h);
}

static int most_parallel(const neighborhoods *h)
{
    int most = 1;
    for (int r = 0; r < h->p; r++)
        for (int i = 0; i < h->graph[r]->nout; i++) {
            int n = 0;
            for (int k = 0; k < h->graph[r]->nout; k++)
                n += h->graph[r]->out[k] == h->graph[r]->out[i];
            most = h->graph[r]->out[i] != SK_PROC_NULL && n > most ? n : most;
        }
    return most;
}

static bool some_idle(const neighborhoods *h)
{
    bool some = false;
    for (int r = 0; r < h->p; r++)
        some |= neighborhoods_idle(h, r);
    return some;
}

sk_neighborhood neighborhoods_of(const neighborhoods *h, int rank, int64_t combine, int window)
{
    sk_neighborhood neighborhood = {.base = {h->graph[rank], combine},
                                    .machine = h->machine,
                                    .combine_limit = combine,
                                    .window = window,
                                    .parallel = most_parallel(h),
                                    .some_idle = some_idle(h)};
    for (int m = 0; m < SK_NMETHODS; m++) {
        neighborhood.pattern[m] = h->pattern[m][rank];
        neighborhood.load[m] = h->load[m];
    }
    return neighborhood;
}

bool neighborhoods_idle(const neighborhoods *h, int rank)
{
    return h->graph[rank]->nin == 0 && h->graph[rank]->nout == 0;
}
