#include "tune/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plot/plot.h"

/* The same but for size and algorithm: what one plot shows. */
static bool same_plot(const sk_tuned *a, const sk_tuned *b)
{
    return a->coll == b->coll && a->form == b->form && a->ranks == b->ranks &&
           a->nodes == b->nodes && a->neighbours == b->neighbours;
}

static const char *name_of(const sk_algo *a)
{
    return a ? a->name : "host";
}

/* A row for each call: the fastest, and the host. */
static void print_row(const sk_tuned *v, int n)
{
    const sk_tuned *best = NULL, *host = NULL;
    char near[16] = "-";
    for (int i = 0; i < n; i++) {
        if (!v[i].algo)
            host = &v[i];
        else if (!best || v[i].us < best->us)
            best = &v[i];
    }
    if (v->neighbours)
        snprintf(near, sizeof near, "%d", v->neighbours);
    printf("%-20s %5d %5d %10s %10" PRId64 "  %-18s", sk_form_name(v->coll, v->form), v->ranks,
           v->nodes, near, v->bytes, best ? name_of(best->algo) : "-");
    if (best)
        printf(" %10.2f", best->us);
    else
        printf(" %10s", "-");
    if (host)
        printf(" %10.2f", host->us);
    else
        printf(" %10s", "-");
    if (best && host)
        printf(" %10.2f", host->us / best->us);
    printf("\n");
}

static void print_table(const sk_tuned *v, int n, const bool *wanted)
{
    printf("%-20s %5s %5s %10s %10s  %-18s %10s %10s %10s\n", "collective", "ranks", "nodes",
           "neighbours", "bytes", "fastest", "us", "host us", "host/skein");
    for (int i = 0, k; i < n; i = k) {
        for (k = i; k < n && same_plot(&v[k], &v[i]) && v[k].bytes == v[i].bytes;)
            k++;
        if (wanted[v[i].coll])
            print_row(v + i, k - i);
    }
}

/* Entries are in the order of sizes. */
static void plot(const sk_tuned *v, int n)
{
    sk_plot p = {0};
    int at = snprintf(p.title, sizeof p.title, "\n%s on %d ranks", sk_form_name(v->coll, v->form),
                      v->ranks);
    if (v->neighbours && at > 0)
        at += snprintf(p.title + at, sizeof p.title - (size_t)at, ", %d neighbours", v->neighbours);
    if (v->nodes > 1 && at > 0)
        snprintf(p.title + at, sizeof p.title - (size_t)at, ", %d nodes", v->nodes);
    snprintf(p.x_name, sizeof p.x_name, "bytes: %s", sk_coll_bytes_mean(v->coll));
    for (int i = 0; i < n; i++) {
        double x = (double)v[i].bytes;
        if (x <= 0)
            continue;
        if (p.npoints == 0 || p.x[p.npoints - 1] < x) {
            if (p.npoints == SK_PLOT_POINTS)
                break;
            p.x[p.npoints++] = x;
        }
        int line = sk_plot_line(&p, name_of(v[i].algo));
        if (line >= 0)
            p.y[line][p.npoints - 1] = 1e3 * v[i].us;
    }
    if (p.npoints > 1)
        sk_plot_text(&p, stdout);
}

void sk_tune_show(sk_tuning *t, const bool wanted[SK_NCOLLS])
{
    const char *name;
    for (int m = 0; (name = sk_tuning_machine(t, m)); m++) {
        int n, k;
        const sk_tuned *v = sk_tuning_times(t, m, &n);
        printf("%smachine %s\n", m ? "\n" : "", name);
        print_table(v, n, wanted);
        for (int i = 0; i < n; i = k) {
            for (k = i; k < n && same_plot(&v[k], &v[i]);)
                k++;
            if (wanted[v[i].coll])
                plot(v + i, k - i);
        }
    }
}
