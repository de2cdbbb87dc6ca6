#include "bench/table.h"

#include <inttypes.h>
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

/* Graphs have commas in their names, and files may have quotes. */
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

bool sk_result_same_graph(const sk_result *a, const sk_result *b)
{
    return a->graph && b->graph ? strcmp(a->graph, b->graph) == 0 : a->graph == b->graph;
}

double sk_result_ratio(const sk_result *r, bool b2b)
{
    return b2b ? r->point.b2b.ratio.mid : r->point.makespan.ratio.mid;
}

const sk_result *sk_result_hardest(const sk_result *r, const sk_result *all, int n, bool b2b)
{
    const sk_result *best = NULL;
    for (int i = 0; i < n; i++) {
        const sk_result *x = &all[i];
        if (sk_result_auto(x) || !x->point.equal || x->mpi != r->mpi || x->nranks != r->nranks ||
            x->point.coll != r->point.coll || x->point.bytes != r->point.bytes)
            continue;
        if (!best || sk_result_ratio(x, b2b) < sk_result_ratio(best, b2b))
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
    const sk_result *one = sk_result_hardest(r, all, n, false),
                    *train = sk_result_hardest(r, all, n, true);
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
            !sk_result_same_graph(last, &r[i]))
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
