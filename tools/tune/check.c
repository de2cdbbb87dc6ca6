#include "tune/check.h"

#include <inttypes.h>
#include <stdio.h>

#include "select/tuning_file.h"
#include "tune/cells.h"

static const double close_enough = 1.1;

typedef struct check_count {
    int calls, close;
} check_count;

/* Of one call: entries from `v` on. */
typedef struct check_row {
    const sk_tuned *measured, *predicted; /* the best by either time */
    double ns;                            /* the predicted time of the latter */
    int n;                                /* algorithms that have both */
} check_row;

static check_row compare(const sk_tune_model *m, const sk_tuned *v, int n)
{
    check_row r = {0};
    sk_tune_cell c = {.coll = v->coll, .bytes = v->bytes, .ranks = v->ranks, .nodes = v->nodes};
    sk_tune_prediction p = sk_tune_predict(m, &c);
    for (int i = 0; i < n && p.machine; i++) {
        double ns = v[i].algo ? sk_tune_predicted(&p.pricing, v[i].algo) : 0;
        if (ns <= 0)
            continue;
        r.n++;
        if (!r.measured || v[i].us < r.measured->us)
            r.measured = &v[i];
        if (!r.predicted || ns < r.ns) {
            r.predicted = &v[i];
            r.ns = ns;
        }
    }
    sk_machine_free(p.machine);
    return r;
}

static void print_row(const check_row *r, check_count *count)
{
    const sk_tuned *p = r->predicted, *b = r->measured;
    double ratio = p->us / b->us;
    count->calls++;
    count->close += ratio <= close_enough;
    printf("%-20s %5d %5d %10" PRId64 "  %-18s %10.2f %10.2f  %-18s %10.2f %6.2f%s\n",
           sk_coll_name(p->coll), p->ranks, p->nodes, p->bytes, p->algo->name, 1e-3 * r->ns, p->us,
           b->algo->name, b->us, ratio, ratio > close_enough ? "  *" : "");
}

static bool same_call(const sk_tuned *a, const sk_tuned *b)
{
    return a->coll == b->coll && a->form == b->form && a->ranks == b->ranks &&
           a->nodes == b->nodes && a->neighbours == b->neighbours && a->bytes == b->bytes;
}

static void check_machine(sk_tuning *t, int machine, const sk_select *select, const bool *wanted,
                          check_count *count)
{
    char err[128];
    const char *name = sk_tuning_machine(t, machine);
    sk_tune_model m = {
        .select = select, .prices = sk_prices_usual(), .cores = sk_tuning_cores(name)};
    int n;
    const sk_tuned *v = sk_tuning_times(t, machine, &n);
    if (sk_prices_read(sk_tuning_prices(t, machine), &m.prices, err, sizeof err) != SK_OK)
        printf("prices: %s (they are ignored)\n", err);
    printf("%smachine %s\n%-20s %5s %5s %10s  %-18s %10s %10s  %-18s %10s %6s\n",
           machine ? "\n" : "", name, "collective", "ranks", "nodes", "bytes", "predicted best",
           "predicted", "us", "measured best", "us", "ratio");
    for (int i = 0, k; i < n; i = k) {
        for (k = i; k < n && same_call(&v[k], &v[i]);)
            k++;
        if (!wanted[v[i].coll] || v[i].form != SK_BLOCKING) /* the model knows no others */
            continue;
        check_row r = compare(&m, v + i, k - i);
        if (r.n > 1)
            print_row(&r, count);
    }
}

bool sk_tune_check(sk_tuning *t, const sk_select *select, const bool wanted[SK_NCOLLS])
{
    check_count count = {0};
    for (int m = 0; sk_tuning_machine(t, m); m++)
        check_machine(t, m, select, wanted, &count);
    if (count.calls)
        printf(
            "\nthe predicted best is the measured best, or within %.0f %% of it, in %d of %d calls "
            "(%.0f %%)\n",
            100 * (close_enough - 1), count.close, count.calls, 100.0 * count.close / count.calls);
    return count.calls > 0;
}
