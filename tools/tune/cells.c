#include "tune/cells.h"

#include <stdio.h>
#include <stdlib.h>

#include "explain/pricing.h"
#include "shm/shm.h"

/* Predictions are right to a factor of about two, so what is predicted to take this much longer is not tried. */
static const double hopeless = 3;

static const char *append(sk_arena *a, const char *list, const char *name)
{
    return sk_format(a, "%s%s%s", list, *list ? "+" : "", name);
}

static void try_all(sk_arena *a, sk_tune_cell *c)
{
    c->algos = "";
    c->apart = 1;
    for (const sk_algo *const *x = sk_algos(); *x; x++)
        if ((*x)->coll == c->coll)
            c->algos = append(a, c->algos, (*x)->name);
}

/* By the predicted times. What has none is tried: it may not fit, which the ranks will see. */
static void try_best(sk_arena *a, sk_tune_cell *c, sk_pricing *x, int64_t elems)
{
    double ns[SK_PRICING_ALGOS], least = 0, second = 0;
    for (int i = 0; i < x->n; i++) {
        sk_priced p;
        ns[i] = sk_pricing_of(x, x->algo[i], elems, &p) ? p.ns : 0;
        if (ns[i] <= 0)
            continue;
        if (!(least > 0) || ns[i] < least) {
            second = least;
            least = ns[i];
        } else if (!(second > 0) || ns[i] < second)
            second = ns[i];
    }
    c->algos = "";
    c->apart = least > 0 && second > 0 ? second / least : 1;
    for (int i = 0; i < x->n; i++)
        if (ns[i] <= hopeless * least)
            c->algos = append(a, c->algos, x->algo[i]->name);
}

static void predict(sk_arena *a, const sk_select *select, const sk_prices *prices, sk_tune_cell *c)
{
    enum { MOST_RANKS = 1024 }; /* of which predictions take milliseconds */
    char text[64], err[128];
    sk_machine *m = NULL;
    int per_node = (c->ranks + c->nodes - 1) / c->nodes;
    snprintf(text, sizeof text, "node:%d core:%d", c->nodes, per_node);
    if (sk_coll_neighbor(c->coll) || c->ranks > MOST_RANKS ||
        sk_machine_parse(text, c->ranks, &m, err, sizeof err) != SK_OK) {
        try_all(a, c);
        return;
    }
    int64_t elem = c->bytes % 8 == 0 ? 8 : 1;
    sk_callspec spec = {.coll = c->coll,
                        .nranks = c->ranks,
                        .elems = c->bytes / elem,
                        .elem_size = elem,
                        .machine = m,
                        .chooser = sk_select_chooser(select),
                        .slot_bytes = sk_shm_size_of(m->max_per_node, INT64_MAX).slot_bytes};
    sk_pricing x;
    sk_pricing_init(&x, select, &spec, prices);
    try_best(a, c, &x, spec.elems);
    sk_machine_free(m);
}

static int compare(const void *pa, const void *pb)
{
    const sk_tune_cell *a = pa, *b = pb;
    if (a->seconds < b->seconds || a->seconds > b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    return (a->apart > b->apart) - (a->apart < b->apart);
}

void sk_tune_cells_order(sk_arena *a, const sk_select *select, const sk_prices *prices,
                         sk_tune_cell *cells, int n)
{
    for (int i = 0; i < n; i++)
        predict(a, select, prices, &cells[i]);
    qsort(cells, (size_t)n, sizeof *cells, compare);
}

const char *sk_tune_cells_text(sk_arena *a, const sk_tune_cell *cells, int n)
{
    size_t size = 1, at = 0;
    enum { LONGEST = 400 };
    size += (size_t)n * LONGEST;
    char *text = sk_arena_need(a, size);
    *text = '\0';
    for (int i = 0; i < n; i++) {
        const sk_tune_cell *c = &cells[i];
        int64_t bytes = c->coll == SK_ALLGATHERV ? c->bytes / c->ranks : c->bytes; /* a block */
        at +=
            (size_t)snprintf(text + at, LONGEST, "%s%s:%lld:%d:%d:%.300s", i ? "," : "",
                             sk_coll_name(c->coll), (long long)bytes, c->ranks, c->nodes, c->algos);
    }
    return text;
}
