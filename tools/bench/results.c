/* results.c: see results.h. */
#include "bench/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/jobs.h"

void sk_csv_header(FILE *f, bool graph)
{
    fputs("mpi,ranks,collective,bytes,skein_algorithm,host_algorithm,equal,rounds,singles,train,"
          "skein_us,host_us,ratio,ratio_p10,ratio_p90,"
          "b2b_skein_us,b2b_host_us,b2b_ratio,b2b_ratio_p10,b2b_ratio_p90,empty_us",
          f);
    fputs(graph ? ",graph\n" : "\n", f);
    fflush(f);
}

static void csv_timing(FILE *f, const sk_timing *t)
{
    fprintf(f, ",%.6g,%.6g,%.6g,%.6g,%.6g", t->skein_us, t->host_us, t->ratio.mid, t->ratio.lo,
            t->ratio.hi);
}

/* A quoted field: the names of graphs contain commas, those of files may contain quotes. */
static void csv_text(FILE *f, const char *text)
{
    fputs(",\"", f);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

void sk_csv_row(FILE *f, const sk_result *r)
{
    const sk_point *p = &r->point;
    fprintf(f, "%s,%d,%s,%" PRId64 ",%s,%s,%s,%d,%d,%d", sk_flavour_name(r->mpi), r->nranks,
            sk_coll_name(p->coll), p->bytes, r->algorithm, r->host, p->equal ? "yes" : "no",
            p->rounds, p->singles, p->train);
    csv_timing(f, &p->makespan);
    csv_timing(f, &p->b2b);
    fprintf(f, ",%.6g", p->empty_us);
    if (r->graph)
        csv_text(f, r->graph);
    fputc('\n', f);
    fflush(f);
}

const char *sk_bytes_text(int64_t bytes, char *buf, size_t size)
{
    static const char *const units[] = {"B", "KB", "MB", "GB"};
    int u = 0;
    while (u < 3 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        u++;
    }
    snprintf(buf, size, "%" PRId64 " %s", bytes, units[u]);
    return buf;
}

bool sk_result_auto(const sk_result *r)
{
    return strcmp(r->host, SK_HOST_AUTO) == 0;
}

/* Whether both have the same graph, or both none. */
static bool same_graph(const sk_result *a, const sk_result *b)
{
    return a->graph && b->graph ? strcmp(a->graph, b->graph) == 0 : a->graph == b->graph;
}

static double ratio_of(const sk_result *r, bool b2b)
{
    return b2b ? r->point.b2b.ratio.mid : r->point.makespan.ratio.mid;
}

/* Of the results at the point of r with a forced host algorithm, the one where the host does best
 * against Skein; NULL when there is none. */
static const sk_result *best_host(const sk_result *r, const sk_result *all, int n, bool b2b)
{
    const sk_result *best = NULL;
    for (int i = 0; i < n; i++) {
        const sk_result *x = &all[i];
        if (sk_result_auto(x) || !x->point.equal || x->mpi != r->mpi || x->nranks != r->nranks ||
            x->point.coll != r->point.coll || x->point.bytes != r->point.bytes)
            continue;
        if (!best || ratio_of(x, b2b) < ratio_of(best, b2b))
            best = x;
    }
    return best;
}

static void print_timing(FILE *f, const sk_timing *t)
{
    fprintf(f, "  %9.4g %9.4g %6.2fx %5.2f..%-5.2f", t->host_us, t->skein_us, t->ratio.mid,
            t->ratio.lo, t->ratio.hi);
}

static void print_against(FILE *f, const sk_result *r, const sk_result *all, int n)
{
    const sk_result *one = best_host(r, all, n, false), *train = best_host(r, all, n, true);
    if (one && train)
        fprintf(f, "  %6.2fx %-18.18s %6.2fx %s", one->point.makespan.ratio.mid, one->host,
                train->point.b2b.ratio.mid, train->host);
}

static void print_heading(FILE *f, const sk_result *r, bool against)
{
    fprintf(f,
            "\n%s, %d ranks%s%s: times in us, ratio host / Skein (above 1: Skein is faster), its "
            "10%%..90%% spread\n",
            sk_flavour_title(r->mpi), r->nranks, r->graph ? ", " : "", r->graph ? r->graph : "");
    fprintf(f, "an empty call takes %.3g us: until all ranks have had a core\n", r->point.empty_us);
    fprintf(f, "%-21s %-23s  %-41s  %-41s%s\n", "", "", "one call (makespan)", "back to back",
            against ? "  host forced: one call      back to back" : "");
    fprintf(f, "%-20s %7s %-16s", "collective", "bytes", "algorithm");
    for (int i = 0; i < 2; i++)
        fprintf(f, "  %9s %9s %7s %12s", "host", "Skein", "ratio", "10%..90%");
    fputc('\n', f);
}

void sk_table_print(FILE *f, const sk_result *r, int n, bool against)
{
    const sk_result *last = NULL;
    char size[32];
    for (int i = 0; i < n; i++) {
        if (!sk_result_auto(&r[i]))
            continue;
        if (!last || last->mpi != r[i].mpi || last->nranks != r[i].nranks ||
            !same_graph(last, &r[i]))
            print_heading(f, &r[i], against);
        last = &r[i];
        const sk_point *p = &r[i].point;
        fprintf(f, "%-20s %7s %-16s", sk_coll_name(p->coll),
                p->coll == SK_BARRIER ? "" : sk_bytes_text(p->bytes, size, sizeof size),
                r[i].algorithm);
        if (!p->equal) {
            fputs("  WRONG RESULT\n", f);
            continue;
        }
        print_timing(f, &p->makespan);
        print_timing(f, &p->b2b);
        if (against)
            print_against(f, &r[i], r, n);
        fputc('\n', f);
    }
}

/* The summary: a geometric mean, because ratios multiply, and the worst point, because a mean hides
 * it. */

/* The results that one line of the summary covers. */
typedef struct result_group {
    sk_flavour mpi;
    sk_coll coll;          /* SK_NCOLLS: all */
    const char *algorithm; /* NULL: any */
    const sk_result *like; /* on the same graph as this one; NULL: any */
} result_group;

static bool in_group(const sk_result *r, const result_group *g)
{
    return sk_result_auto(r) && r->point.equal && r->mpi == g->mpi &&
           (g->coll == SK_NCOLLS || r->point.coll == g->coll) &&
           (!g->algorithm || strcmp(r->algorithm, g->algorithm) == 0) &&
           (!g->like || same_graph(r, g->like));
}

/* The mean over a group; with `against`, against the best forced algorithms of the host. */
static double mean(const result_group *g, const sk_result *r, int n, bool b2b, bool against)
{
    double *v = malloc(((size_t)n + 1) * sizeof *v);
    int m = 0;
    for (int i = 0; v && i < n; i++) {
        if (!in_group(&r[i], g))
            continue;
        const sk_result *x = against ? best_host(&r[i], r, n, b2b) : &r[i];
        if (x)
            v[m++] = ratio_of(x, b2b);
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

static void print_worst(FILE *f, const result_group *g, const sk_result *r, int n)
{
    const sk_result *worst = NULL;
    char size[32];
    for (int i = 0; i < n; i++)
        if (in_group(&r[i], g) && (!worst || ratio_of(&r[i], false) < ratio_of(worst, false)))
            worst = &r[i];
    if (!worst)
        return;
    fprintf(f, "   %5.2fx", ratio_of(worst, false));
    if (g->coll == SK_NCOLLS)
        fprintf(f, " %s", sk_coll_name(worst->point.coll));
    if (worst->graph && !g->like)
        fprintf(f, " %s", worst->graph);
    fprintf(f, " %d ranks", worst->nranks);
    if (worst->point.coll != SK_BARRIER)
        fprintf(f, " %s", sk_bytes_text(worst->point.bytes, size, sizeof size));
}

static void print_group(FILE *f, const result_group *g, const sk_result *r, int n, bool against)
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

/* One line for each forced algorithm, or one for the collective. */
static void print_coll(FILE *f, result_group g, const sk_result *r, int n, bool against)
{
    bool forced = false;
    for (int i = 0; i < n; i++) {
        if (!in_group(&r[i], &g) || !r[i].forced)
            continue;
        forced = true;
        result_group one = {g.mpi, g.coll, r[i].algorithm, g.like};
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || in_group(&r[k], &one);
        if (!seen)
            print_group(f, &one, r, n, against);
    }
    if (!forced)
        print_group(f, &g, r, n, against);
}

/* Lines for each graph, which its first result represents; without graphs, for all results. */
static void print_graphs(FILE *f, result_group g, const sk_result *r, int n, bool against)
{
    for (int i = 0; i < n; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || same_graph(&r[k], &r[i]);
        g.like = &r[i];
        if (!seen)
            print_coll(f, g, r, n, against);
    }
}

void sk_summary_print(FILE *f, const sk_result *r, int n, bool against)
{
    for (int mpi = SK_MPI_OPENMPI; mpi <= SK_MPI_MPICH; mpi++) {
        result_group all = {(sk_flavour)mpi, SK_NCOLLS, NULL, NULL};
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
            print_graphs(f, (result_group){(sk_flavour)mpi, (sk_coll)c, NULL, NULL}, r, n, against);
        print_group(f, &all, r, n, against);
    }
}
