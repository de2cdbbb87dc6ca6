/* plots.c: see plots.h. */
#include "bench/plots.h"

#include <string.h>

#include "plot/plot.h"

static bool same_plot(const sk_result *a, const sk_result *b)
{
    bool graph = a->graph && b->graph ? strcmp(a->graph, b->graph) == 0 : a->graph == b->graph;
    return a->mpi == b->mpi && a->form == b->form && a->nranks == b->nranks && graph &&
           a->point.coll == b->point.coll;
}

static bool drawn(const sk_result *r)
{
    return r->point.equal == SK_EQUAL && r->point.bytes > 0;
}

/* Sizes rise in the plot, in whatever order they were measured. */
static int size_of(sk_plot *p, int64_t bytes)
{
    int k = 0;
    while (k < p->npoints && p->x[k] < (double)bytes)
        k++;
    if (k < p->npoints && p->x[k] == (double)bytes)
        return k;
    if (p->npoints == SK_PLOT_POINTS)
        return -1;
    for (int i = 0; i < SK_PLOT_LINES; i++) {
        memmove(p->y[i] + k + 1, p->y[i] + k, (size_t)(p->npoints - k) * sizeof *p->y[i]);
        p->y[i][k] = 0;
    }
    memmove(p->x + k + 1, p->x + k, (size_t)(p->npoints - k) * sizeof *p->x);
    p->x[k] = (double)bytes;
    p->npoints++;
    return k;
}

static void add(sk_plot *p, const char *name, int64_t bytes, double us)
{
    int line = sk_plot_line(p, name), k = size_of(p, bytes);
    if (line >= 0 && k >= 0)
        p->y[line][k] = 1e3 * us;
}

/* The plot of r[0] and all results like it. Of the two times the first: a call on its own, or the first calls. */
static void draw(sk_arena *a, const sk_bench_options *o, const sk_result *r, int n, sk_plot *p)
{
    char time[64];
    snprintf(p->title, sizeof p->title, "%s on %d ranks%s%s, %s, %s", sk_coll_name(r->point.coll),
             r->nranks, r->graph ? ", " : "", r->graph ? r->graph : "", sk_form_names[r->form],
             sk_time_title(&o->conditions, 0, time, sizeof time));
    snprintf(p->x_name, sizeof p->x_name, "bytes: %s", sk_coll_bytes_mean(r->point.coll));
    for (int i = 0; i < n; i++) {
        const sk_point *x = &r[i].point;
        if (!same_plot(&r[i], r) || !drawn(&r[i]))
            continue;
        const char *host = sk_flavour_title(r->mpi);
        add(p, sk_result_auto(&r[i]) ? host : sk_format(a, "%s, %s", host, r[i].host), x->bytes,
            x->time[0].host_us);
        add(p, r[i].forced ? sk_format(a, "Skein, %s", r[i].algorithm) : "Skein", x->bytes,
            x->time[0].skein_us);
    }
}

bool sk_bench_plot(sk_arena *a, const sk_bench_options *o, const sk_result *r, int n, FILE *out,
                   const char *file, char *err, size_t size)
{
    sk_plot *plots = sk_arena_need(a, ((size_t)n + 1) * sizeof *plots);
    int nplots = 0;
    memset(plots, 0, ((size_t)n + 1) * sizeof *plots);
    for (int i = 0; i < n; i++) {
        bool first = true;
        for (int k = 0; k < i; k++)
            first = first && !same_plot(&r[k], &r[i]);
        if (!first)
            continue;
        draw(a, o, r + i, n - i, &plots[nplots]);
        if (plots[nplots].npoints > 1)
            nplots++;
        else
            memset(&plots[nplots], 0, sizeof *plots);
    }
    if (nplots == 0) {
        snprintf(err, size, "nothing to plot: a plot needs at least two sizes of a collective");
        return false;
    }
    if (file)
        return sk_plot_save(plots, nplots, file, err, size);
    for (int i = 0; i < nplots; i++) {
        fputc('\n', out);
        sk_plot_text(&plots[i], out);
    }
    return true;
}
