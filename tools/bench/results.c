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
          "b2b_skein_us,b2b_host_us,b2b_ratio,b2b_ratio_p10,b2b_ratio_p90,empty_us,"
          "form,phase,calls,gap_us,buffers,busy,overlap_skein,overlap_host",
          f);
    fputs(graph ? ",graph\n" : "\n", f);
    fflush(f);
}

static void csv_timing(FILE *f, const sk_timing *t)
{
    fprintf(f, ",%.9g,%.9g,%.9g,%.9g,%.9g", t->skein_us, t->host_us, t->ratio.mid, t->ratio.lo,
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

void sk_csv_row(FILE *f, const sk_bench_options *o, const sk_result *r)
{
    const sk_point *p = &r->point;
    const sk_conditions *c = &o->conditions;
    fprintf(f, "%s,%d,%s,%" PRId64 ",%s,%s,%s,%d,%d,%d", sk_flavour_name(r->mpi), r->nranks,
            sk_coll_name(p->coll), p->bytes, r->algorithm, r->host, sk_equality_names[p->equal],
            p->rounds, p->singles, p->train);
    for (int t = 0; t < SK_TIMES; t++)
        csv_timing(f, &p->time[t]);
    fprintf(f, ",%.9g,%s,%s,%d,%d,%s,%d,%.3g,%.3g", p->empty_us, sk_form_names[r->form],
            sk_phase_names[c->phase], c->calls, c->gap_us, sk_buffer_names[c->buffers],
            (int)o->busy, p->overlap[0], p->overlap[1]);
    if (r->graph)
        csv_text(f, r->graph);
    fputc('\n', f);
    fflush(f);
}

const char *sk_equality_text(sk_equality v)
{
    static const char *const texts[SK_NEQUALITIES] = {[SK_SKEIN_WRONG] = "  WRONG RESULT",
                                                      [SK_HOST_WRONG] =
                                                          "  the host's result is wrong",
                                                      [SK_EQUAL] = ""};
    return texts[v];
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

static double ratio_of(const sk_result *r, int time)
{
    return r->point.time[time].ratio.mid;
}

int sk_result_judged(const sk_bench_options *o, const sk_result *r)
{
    return o->conditions.phase == SK_WARM && ratio_of(r, 0) < ratio_of(r, 1) ? 0 : 1;
}

/* Of the results at the point of r with a forced host algorithm, the one where the host does best
 * against Skein; NULL when there is none. */
static const sk_result *best_host(const sk_result *r, const sk_result *all, int n, int time)
{
    const sk_result *best = NULL;
    for (int i = 0; i < n; i++) {
        const sk_result *x = &all[i];
        if (sk_result_auto(x) || x->point.equal != SK_EQUAL || x->mpi != r->mpi ||
            x->form != r->form || x->nranks != r->nranks || x->point.coll != r->point.coll ||
            x->point.bytes != r->point.bytes)
            continue;
        if (!best || ratio_of(x, time) < ratio_of(best, time))
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
    const sk_result *one = best_host(r, all, n, 0), *train = best_host(r, all, n, 1);
    if (one && train)
        fprintf(f, "  %6.2fx %-18.18s %6.2fx %s", ratio_of(one, 0), one->host, ratio_of(train, 1),
                train->host);
}

/* "allreduce 16 KB" */
static void print_cell(FILE *f, const sk_result *r)
{
    char size[32];
    fputs(sk_coll_name(r->point.coll), f);
    if (r->point.coll != SK_BARRIER)
        fprintf(f, " %s", sk_bytes_text(r->point.bytes, size, sizeof size));
}

/* Which of the two times, where both count. */
static void print_judged(FILE *f, const sk_bench_options *o, const sk_result *r)
{
    char title[64];
    if (o->conditions.phase == SK_WARM)
        fprintf(f, ", %s",
                sk_time_title(&o->conditions, sk_result_judged(o, r), title, sizeof title));
}

double sk_result_judged_ratio(const sk_bench_options *o, const sk_result *r)
{
    return ratio_of(r, sk_result_judged(o, r));
}

/* The results of one table: r[0] and those after it that have the same heading. */
static int table_length(const sk_result *r, int n)
{
    int i = 1;
    while (i < n && r[i].mpi == r->mpi && r[i].form == r->form && r[i].nranks == r->nranks &&
           same_graph(&r[i], r))
        i++;
    return i;
}

/* The result with the lowest ratio above `last`, or NULL; `last` NULL: of all. */
static const sk_result *next_worst(const sk_bench_options *o, const sk_result *r, int n,
                                   const sk_result *last)
{
    const sk_result *worst = NULL;
    for (int i = 0; i < n; i++) {
        if (!sk_result_auto(&r[i]) || r[i].point.equal != SK_EQUAL)
            continue;
        double x = sk_result_judged_ratio(o, &r[i]),
               least = last ? sk_result_judged_ratio(o, last) : 0;
        if ((x > least || (last && x == least && &r[i] > last)) &&
            (!worst || x < sk_result_judged_ratio(o, worst)))
            worst = &r[i];
    }
    return worst;
}

static void print_worst_cells(FILE *f, const sk_bench_options *o, const sk_result *r, int n)
{
    enum { CELLS = 5 };
    const sk_result *worst = next_worst(o, r, n, NULL);
    for (int i = 0; worst && i < CELLS; i++, worst = next_worst(o, r, n, worst)) {
        const sk_spread *s = &worst->point.time[sk_result_judged(o, worst)].ratio;
        fprintf(f, "%s %6.2fx %5.2f..%-5.2f ", i == 0 ? "worst:" : "      ", s->mid, s->lo, s->hi);
        print_cell(f, worst);
        print_judged(f, o, worst);
        fputc('\n', f);
    }
}

static void print_heading(FILE *f, const sk_bench_options *o, const sk_result *r, int n)
{
    const sk_conditions *c = &o->conditions;
    char title[SK_TIMES][64];
    for (int t = 0; t < SK_TIMES; t++)
        sk_time_title(c, t, title[t], sizeof title[t]);
    fprintf(f, "\n%s, %d ranks%s%s, %s", sk_flavour_title(r->mpi), r->nranks, r->graph ? ", " : "",
            r->graph ? r->graph : "", sk_form_names[r->form]);
    if (c->buffers != SK_REUSED)
        fprintf(f, ", buffers %s", sk_buffer_names[c->buffers]);
    if (o->busy)
        fprintf(f, ", %d busy loops beside", (int)o->busy);
    fputs(": times in us, ratio host / Skein (above 1: Skein is faster), its 10%..90% spread\n", f);
    fprintf(f, "an empty call takes %.3g us: until all ranks have had a core\n", r->point.empty_us);
    print_worst_cells(f, o, r, n);
    fprintf(f, "%-21s %-23s  %-41s  %-41s%s%s\n", "", "", title[0], title[1],
            o->against.n ? "  host forced: one call      back to back" : "",
            c->phase == SK_OVERLAP ? "  overlap" : "");
    fprintf(f, "%-20s %7s %-16s", "collective", "bytes", "algorithm");
    for (int i = 0; i < 2; i++)
        fprintf(f, "  %9s %9s %7s %12s", "host", "Skein", "ratio", "10%..90%");
    fputs(c->phase == SK_OVERLAP ? "  host Skein\n" : "\n", f);
}

static void print_row(FILE *f, const sk_bench_options *o, const sk_result *r)
{
    const sk_point *p = &r->point;
    char size[32];
    fprintf(f, "%-20s %7s %-16s", sk_coll_name(p->coll),
            p->coll == SK_BARRIER ? "" : sk_bytes_text(p->bytes, size, sizeof size), r->algorithm);
    for (int t = 0; p->equal != SK_SKEIN_WRONG && t < SK_TIMES; t++)
        print_timing(f, &p->time[t]);
    if (o->conditions.phase == SK_OVERLAP)
        fprintf(f, "  %3.0f%% %4.0f%%", 100 * p->overlap[1], 100 * p->overlap[0]);
    fputs(sk_equality_text(p->equal), f);
}

void sk_table_print(FILE *f, const sk_bench_options *o, const sk_result *r, int n)
{
    for (int at = 0, next; at < n; at = next) {
        next = at + table_length(r + at, n - at);
        bool headed = false;
        for (int i = at; i < next; i++) {
            if (!sk_result_auto(&r[i]))
                continue;
            if (!headed)
                print_heading(f, o, &r[at], next - at);
            headed = true;
            print_row(f, o, &r[i]);
            if (o->against.n)
                print_against(f, &r[i], r, n);
            fputc('\n', f);
        }
    }
}

/* The summary: a geometric mean, because ratios multiply, and the worst point, because a mean hides
 * it. */

/* The results that one line of the summary covers. */
typedef struct result_group {
    sk_flavour mpi;
    sk_form form;
    int nranks;            /* 0: all */
    sk_coll coll;          /* SK_NCOLLS: all */
    const char *algorithm; /* NULL: any */
    const sk_result *like; /* on the same graph as this one; NULL: any */
} result_group;

static bool in_group(const sk_result *r, const result_group *g)
{
    return sk_result_auto(r) && r->point.equal == SK_EQUAL && r->mpi == g->mpi &&
           r->form == g->form && (g->nranks == 0 || r->nranks == g->nranks) &&
           (g->coll == SK_NCOLLS || r->point.coll == g->coll) &&
           (!g->algorithm || strcmp(r->algorithm, g->algorithm) == 0) &&
           (!g->like || same_graph(r, g->like));
}

/* All results, and what was asked for. */
typedef struct result_set {
    const sk_bench_options *o;
    const sk_result *r;
    int n;
} result_set;

/* The mean over a group; with `against`, against the best forced algorithms of the host. */
static double mean(const result_group *g, const result_set *s, int time, bool against)
{
    double *v = malloc(((size_t)s->n + 1) * sizeof *v);
    int m = 0;
    for (int i = 0; v && i < s->n; i++) {
        if (!in_group(&s->r[i], g))
            continue;
        const sk_result *x = against ? best_host(&s->r[i], s->r, s->n, time) : &s->r[i];
        if (x)
            v[m++] = ratio_of(x, time);
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

static void print_worst(FILE *f, const result_group *g, const result_set *s)
{
    const sk_result *worst = NULL;
    for (int i = 0; i < s->n; i++)
        if (in_group(&s->r[i], g) && (!worst || sk_result_judged_ratio(s->o, &s->r[i]) <
                                                    sk_result_judged_ratio(s->o, worst)))
            worst = &s->r[i];
    if (!worst)
        return;
    fprintf(f, "   %5.2fx ", sk_result_judged_ratio(s->o, worst));
    print_cell(f, worst);
    if (worst->graph && !g->like)
        fprintf(f, " %s", worst->graph);
    fprintf(f, " %d ranks", worst->nranks);
    print_judged(f, s->o, worst);
}

static void print_group(FILE *f, const result_group *g, const result_set *s)
{
    char name[32];
    double one = mean(g, s, 0, false);
    if (isnan(one))
        return;
    snprintf(name, sizeof name, "%d ranks", g->nranks);
    if (!g->nranks)
        snprintf(name, sizeof name, "%s", g->coll == SK_NCOLLS ? "all" : sk_coll_name(g->coll));
    fprintf(f, "%-20s %-16s", name, g->algorithm ? g->algorithm : "");
    if (s->r->graph)
        fprintf(f, " %-16s", g->like ? g->like->graph : "");
    print_ratio(f, 10, one);
    print_ratio(f, 20, mean(g, s, 1, false));
    if (s->o->against.n) {
        print_ratio(f, 13, mean(g, s, 0, true));
        print_ratio(f, 13, mean(g, s, 1, true));
    }
    print_worst(f, g, s);
    fputc('\n', f);
}

/* One line for each forced algorithm, or one for the collective. */
static void print_coll(FILE *f, result_group g, const result_set *s)
{
    bool forced = false;
    for (int i = 0; i < s->n; i++) {
        if (!in_group(&s->r[i], &g) || !s->r[i].forced)
            continue;
        forced = true;
        result_group one = g;
        one.algorithm = s->r[i].algorithm;
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || in_group(&s->r[k], &one);
        if (!seen)
            print_group(f, &one, s);
    }
    if (!forced)
        print_group(f, &g, s);
}

/* Lines for each graph, which its first result represents; without graphs, for all results. */
static void print_graphs(FILE *f, result_group g, const result_set *s)
{
    for (int i = 0; i < s->n; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || same_graph(&s->r[k], &s->r[i]);
        g.like = &s->r[i];
        if (!seen)
            print_coll(f, g, s);
    }
}

static void print_form(FILE *f, result_group all, const result_set *s)
{
    const sk_bench_options *o = s->o;
    char title[64];
    if (isnan(mean(&all, s, 0, false)))
        return;
    fprintf(f, "\n%s, %s: geometric mean of the ratios host / Skein\n", sk_flavour_title(all.mpi),
            sk_form_names[all.form]);
    fprintf(f, "%-*s", s->r->graph ? 50 : 33, "");
    fprintf(f, " %14s", sk_time_title(&o->conditions, 0, title, sizeof title));
    fprintf(f, " %20s", sk_time_title(&o->conditions, 1, title, sizeof title));
    if (o->against.n)
        fprintf(f, " %13s %13s", "host forced", "back to back");
    fputs("   worst\n", f);
    for (int c = 0; c < SK_NCOLLS; c++) {
        result_group one = all;
        one.coll = (sk_coll)c;
        print_graphs(f, one, s);
    }
    for (int i = 0; o->ranks.n > 1 && i < o->ranks.n; i++) {
        result_group one = all;
        one.nranks = (int)o->ranks.v[i];
        print_group(f, &one, s);
    }
    print_group(f, &all, s);
}

void sk_summary_print(FILE *f, const sk_bench_options *o, const sk_result *r, int n)
{
    result_set s = {o, r, n};
    for (int mpi = SK_MPI_OPENMPI; mpi <= SK_MPI_MPICH; mpi++)
        for (int form = 0; form < SK_NFORMS; form++)
            print_form(
                f, (result_group){.mpi = (sk_flavour)mpi, .form = (sk_form)form, .coll = SK_NCOLLS},
                &s);
}
