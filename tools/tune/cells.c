#include "tune/cells.h"

#include <stdio.h>
#include <stdlib.h>

#include "shm/shm.h"

/* Predictions are right to a factor of about two, so what is predicted to take this much longer is not tried. */
static const double hopeless = 3;

static const char *append(sk_arena *a, const char *list, const char *name)
{
    return sk_format(a, "%s%s%s", list, *list ? "+" : "", name);
}

static void name_all(sk_arena *a, sk_tune_cell *c)
{
    c->algos = "";
    for (const sk_algo *const *x = sk_algos(); *x; x++)
        if ((*x)->coll == c->coll)
            c->algos = append(a, c->algos, (*x)->name);
}

double sk_tune_predicted(sk_pricing *x, const sk_algo *a)
{
    sk_priced p;
    return !sk_pricing_of(x, a, x->spec.elems, &p) ? 0 : p.each > 0 ? p.each : p.ns;
}

/* By the predicted times. What has none is tried: it may not fit, which the ranks will see. */
static void try_best(sk_arena *a, sk_tune_cell *c, sk_pricing *x)
{
    double ns[SK_PRICING_ALGOS], least = 0, second = 0;
    for (int i = 0; i < x->n; i++) {
        ns[i] = sk_tune_predicted(x, x->algo[i]);
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

sk_tune_prediction sk_tune_predict(const sk_tune_model *m, const sk_tune_cell *c)
{
    enum { MOST_RANKS = 1024 }; /* of which predictions take milliseconds */
    sk_tune_prediction p = {0};
    int cores = m->prices.node_cores > 0 ? (int)m->prices.node_cores : m->cores;
    if (sk_coll_neighbor(c->coll) || c->ranks > MOST_RANKS ||
        sk_machine_even(c->ranks, c->nodes, cores, &p.machine) != SK_OK)
        return p;
    int64_t even = c->coll == SK_ALLGATHERV ? 8 * c->ranks : 8, elem = c->bytes % even == 0 ? 8 : 1;
    sk_callspec spec = {.coll = c->coll,
                        .nranks = c->ranks,
                        .elems = c->bytes / elem,
                        .elem_size = elem,
                        .machine = p.machine,
                        .chooser = sk_select_chooser(m->select),
                        .slot_bytes =
                            sk_shm_size_of(p.machine->max_per_node, INT64_MAX).slot_bytes};
    sk_pricing_init(&p.pricing, m->select, &spec, &m->prices);
    p.pricing.calls = SK_PRICING_ROW;
    return p;
}

static void set_algos(sk_arena *a, const sk_tune_model *m, sk_tune_cell *c)
{
    sk_tune_prediction p = sk_tune_predict(m, c);
    if (p.machine) {
        try_best(a, c, &p.pricing);
    } else {
        name_all(a, c);
        c->apart = 1;
    }
    sk_machine_free(p.machine);
}

static int compare(const void *pa, const void *pb)
{
    const sk_tune_cell *a = pa, *b = pb;
    if (a->seconds < b->seconds || a->seconds > b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    return (a->apart > b->apart) - (a->apart < b->apart);
}

void sk_tune_cells_order(sk_arena *a, const sk_tune_model *m, sk_tune_cell *cells, int n, bool all)
{
    for (int i = 0; i < n; i++) {
        set_algos(a, m, &cells[i]);
        if (all)
            name_all(a, &cells[i]);
    }
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
        at += (size_t)snprintf(text + at, LONGEST, "%s%s:%lld:%d:%d:%.300s", i ? "," : "",
                               sk_form_name(c->coll, c->form), (long long)bytes, c->ranks, c->nodes,
                               c->algos);
    }
    return text;
}
