/* summary.c: the whole benchmark in a few lines: a geometric mean, because ratios multiply, and the
 * worst point, because a mean hides it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/table.h"

/* The results a line of the summary is about. */
typedef struct group {
    sk_flavour mpi;
    sk_coll coll;          /* SK_NCOLLS: all */
    const char *algorithm; /* NULL: any */
    const sk_result *like; /* on the graph of this one; NULL: any */
} group;

static bool in_group(const sk_result *r, const group *g)
{
    return sk_result_auto(r) && r->point.equal && r->mpi == g->mpi &&
           (g->coll == SK_NCOLLS || r->point.coll == g->coll) &&
           (!g->algorithm || strcmp(r->algorithm, g->algorithm) == 0) &&
           (!g->like || sk_result_same_graph(r, g->like));
}

/* The mean over a group; with `against`, of the hardest host algorithms instead of the default. */
static double mean(const group *g, const sk_result *r, int n, bool b2b, bool against)
{
    double *v = malloc(((size_t)n + 1) * sizeof *v);
    int m = 0;
    for (int i = 0; v && i < n; i++) {
        if (!in_group(&r[i], g))
            continue;
        const sk_result *x = against ? sk_result_hardest(&r[i], r, n, b2b) : &r[i];
        if (x)
            v[m++] = sk_result_ratio(x, b2b);
    }
    double result = v ? sk_geomean(v, m) : NAN;
    free(v);
    return result;
}

static void print_ratio(FILE *f, int width, double ratio)
{
    if (isnan(ratio))
        fprintf(f, " %*s", width, "-");
    else
        fprintf(f, " %*.2fx", width - 1, ratio);
}

static void print_worst(FILE *f, const group *g, const sk_result *r, int n)
{
    const sk_result *worst = NULL;
    char size[32];
    for (int i = 0; i < n; i++)
        if (in_group(&r[i], g) &&
            (!worst || sk_result_ratio(&r[i], false) < sk_result_ratio(worst, false)))
            worst = &r[i];
    if (!worst)
        return;
    fprintf(f, "   %5.2fx", sk_result_ratio(worst, false));
    if (g->coll == SK_NCOLLS)
        fprintf(f, " %s", sk_coll_name(worst->point.coll));
    if (worst->graph && !g->like)
        fprintf(f, " %s", worst->graph);
    fprintf(f, " %d ranks", worst->nranks);
    if (worst->point.coll != SK_BARRIER)
        fprintf(f, " %s", sk_bytes_text(worst->point.bytes, size, sizeof size));
}

static void print_group(FILE *f, const group *g, const sk_result *r, int n, bool against)
{
    double one = mean(g, r, n, false, false);
    if (isnan(one))
        return;
    fprintf(f, "%-20s %-16s", g->coll == SK_NCOLLS ? "all" : sk_coll_name(g->coll),
            g->algorithm ? g->algorithm : "");
    if (r->graph)
        fprintf(f, " %-16s", g->like ? g->like->graph : "");
    print_ratio(f, 10, one);
    print_ratio(f, 13, mean(g, r, n, true, false));
    if (against) {
        print_ratio(f, 13, mean(g, r, n, false, true));
        print_ratio(f, 13, mean(g, r, n, true, true));
    }
    print_worst(f, g, r, n);
    fputc('\n', f);
}

/* A line for each algorithm where algorithms were forced, else one for the collective. */
static void print_coll(FILE *f, group g, const sk_result *r, int n, bool against)
{
    bool forced = false;
    for (int i = 0; i < n; i++) {
        if (!in_group(&r[i], &g) || !r[i].forced)
            continue;
        forced = true;
        group one = {g.mpi, g.coll, r[i].algorithm, g.like};
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || in_group(&r[k], &one);
        if (!seen)
            print_group(f, &one, r, n, against);
    }
    if (!forced)
        print_group(f, &g, r, n, against);
}

/* The first result of each graph stands for it; without graphs, the first one for all. */
static void print_graphs(FILE *f, group g, const sk_result *r, int n, bool against)
{
    for (int i = 0; i < n; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || sk_result_same_graph(&r[k], &r[i]);
        g.like = &r[i];
        if (!seen)
            print_coll(f, g, r, n, against);
    }
}

void sk_summary_print(FILE *f, const sk_result *r, int n, bool against)
{
    for (int mpi = SK_MPI_OPENMPI; mpi <= SK_MPI_MPICH; mpi++) {
        group all = {(sk_flavour)mpi, SK_NCOLLS, NULL, NULL};
        int i = 0;
        while (i < n && !in_group(&r[i], &all))
            i++;
        if (i == n)
            continue;
        fprintf(f, "\n%s: geometric mean of the ratios host / Skein\n",
                sk_flavour_title((sk_flavour)mpi));
        fprintf(f, "%-*s %10s %13s", r->graph ? 54 : 37, "", "one call", "back to back");
        if (against)
            fprintf(f, " %13s %13s", "host forced", "back to back");
        fprintf(f, "   worst of one call\n");
        for (int c = 0; c < SK_NCOLLS; c++)
            print_graphs(f, (group){(sk_flavour)mpi, (sk_coll)c, NULL, NULL}, r, n, against);
        print_group(f, &all, r, n, against);
    }
}
