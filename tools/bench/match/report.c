/* report.c: see report.h. */
#include "bench/match/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "match/engine/bin.h"

sk_comparison sk_report_comparison(const sk_match_options *o)
{
    sk_comparison k = {.rounds = o->rounds, .limit = o->limit, .seconds = o->seconds};
    k.config.kc = (uint32_t)o->kc;
    k.config.kp = (uint32_t)o->kp;
    k.config.theta = (uint32_t)o->theta;
    for (int i = 0; i < o->engines.n && k.n < SK_COMPARE_MAX; i++)
        k.c[k.n++].engine = o->engines.v[i];
    return k;
}

/* The most dedicated queues that a side may have: k * sqrt(n). */
static uint64_t queue_cap(const sk_match_config *c, uint32_t nranks)
{
    uint32_t kc = c->kc ? c->kc : SK_BIN_DEFAULT_K, kp = c->kp ? c->kp : SK_BIN_DEFAULT_K;
    return sk_bin_cap(kc + kp, nranks);
}

/* The dedicated queues of a side. */
static uint64_t queues_of(const sk_match_stats *s, sk_match_side side)
{
    return s->queues_coll[side] + s->queues_p2p[side];
}

bool sk_report_wrong(const char *title, const sk_comparison *k)
{
    for (int i = 0; i < k->n; i++)
        if (k->c[i].state == SK_COMPARE_WRONG)
            fprintf(stderr, "skein bench match: %s: %s gives other matches than the others\n",
                    title, k->c[i].engine);
    return sk_compare_wrong(k);
}

static const char *state_name(sk_compare_state fate)
{
    static const char *const names[] = {"ok", "too long", "WRONG"};
    return names[fate];
}

static uint64_t all_traversals(const sk_match_stats *s)
{
    return sk_search_sums_of(s, true).traversals + sk_search_sums_of(s, false).traversals;
}

static double per_match(const sk_candidate *c)
{
    uint64_t matches = c->first.matches ? c->first.matches : 1;
    return (double)all_traversals(&c->first.stats) / (double)matches;
}

void sk_report_csv_header(FILE *f)
{
    fputs("stream,ranks,depth,order,side,wild,any_tag,engine,state,rounds,matches,ns,ratio,"
          "ratio_p10,ratio_p90,p2p_searches,p2p_traversals,coll_searches,coll_traversals,"
          "traversals_per_match,queues,bytes,max_posted,mean_posted,max_unexpected,"
          "mean_unexpected\n",
          f);
}

static void csv_number(FILE *f, double v)
{
    if (isnan(v))
        fputc(',', f);
    else
        fprintf(f, ",%.6g", v);
}

void sk_report_csv(FILE *f, const sk_report_subject *s, const sk_comparison *k)
{
    for (int i = 0; i < k->n; i++) {
        const sk_candidate *c = &k->c[i];
        const sk_match_stats *st = &c->first.stats;
        sk_search_sums p2p = sk_search_sums_of(st, true), coll = sk_search_sums_of(st, false);
        fprintf(f, "\"%s\",%" PRIu32 ",%" PRIu32 ",%s,%s,%d,%s,%s,%s,%d,%" PRIu64, s->stream,
                s->ranks, s->depth, s->order, s->side, s->wild, s->any_tag ? "yes" : "no",
                c->engine, state_name(c->state), c->rounds, c->first.matches);
        csv_number(f, c->ns);
        csv_number(f, c->ratio.mid);
        csv_number(f, c->ratio.lo);
        csv_number(f, c->ratio.hi);
        fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, p2p.searches, p2p.traversals,
                coll.searches, coll.traversals);
        csv_number(f, per_match(c));
        fprintf(f, ",%" PRIu64 ",%" PRIu64, st->queues, st->bytes);
        for (int side = 0; side < SK_NSIDES; side++) {
            fprintf(f, ",%" PRIu64, st->max_length[side]);
            csv_number(f, st->mean_length[side]);
        }
        fputc('\n', f);
    }
    fflush(f);
}

/* Time and its ratio to list, or the reason why there is none: 30 columns. */
static void print_time(FILE *f, const sk_candidate *c)
{
    if (c->state != SK_COMPARE_OK || isnan(c->ns)) {
        fprintf(f, "  %9s %8s %12s", c->state == SK_COMPARE_OK ? "-" : state_name(c->state), "",
                "");
        return;
    }
    fprintf(f, "  %9.4g", c->ns);
    if (isnan(c->ratio.mid))
        fprintf(f, " %8s %12s", "-", "");
    else
        fprintf(f, " %7.3gx %5.3g..%-5.3g", c->ratio.mid, c->ratio.lo, c->ratio.hi);
}

void sk_report_depth_header(FILE *f)
{
    fprintf(f, "%8s  %-10s  %9s %8s %12s  %10s %7s %8s\n", "depth", "engine", "ns", "ratio",
            "10%..90%", "traversed", "queues", "KB");
}

void sk_report_depth(FILE *f, uint32_t depth, const sk_comparison *k)
{
    for (int i = 0; i < k->n; i++) {
        const sk_candidate *c = &k->c[i];
        const sk_match_stats *s = &c->first.stats;
        fprintf(f, "%8" PRIu32 "  %-10s", depth, c->engine);
        print_time(f, c);
        if (c->state == SK_COMPARE_OK)
            fprintf(f, "  %10.4g %7" PRIu64 " %8" PRIu64, per_match(c), s->queues,
                    (s->bytes + 1023) / 1024);
        fputc('\n', f);
    }
}

static void print_ratio(FILE *f, uint64_t list, uint64_t own)
{
    if (own)
        fprintf(f, " %8.4gx", (double)list / (double)own);
    else
        fprintf(f, " %9s", "-");
}

void sk_report_stream(FILE *f, const char *title, const sk_stream *s, const sk_comparison *k)
{
    const sk_candidate *any = sk_compare_fastest(k), *list = sk_compare_find(k, "list");
    bool base = list && list->state == SK_COMPARE_OK;
    fprintf(f, "\n%s, %" PRIu32 " ranks: %zu operations", title, s->nranks, s->n);
    if (any) {
        const sk_match_stats *st = &any->first.stats;
        fprintf(f,
                ", %" PRIu64 " matches; posted queue mean %.4g, longest %" PRIu64
                "; unexpected mean %.4g, longest %" PRIu64,
                any->first.matches, st->mean_length[SK_POSTED], st->max_length[SK_POSTED],
                st->mean_length[SK_UNEXPECTED], st->max_length[SK_UNEXPECTED]);
    }
    fprintf(f,
            "\nqueued items traversed for point-to-point and collective items; ratios are list / "
            "engine (above 1: better than list)\n%-10s  %10s %12s %12s %9s  %9s %8s %12s  %12s %6s "
            "%8s\n",
            "engine", "searches", "p2p", "collective", "ratio", "ns/match", "ratio", "10%..90%",
            "queues p + u", "cap", "KB");
    for (int i = 0; i < k->n; i++) {
        const sk_candidate *c = &k->c[i];
        const sk_match_stats *st = &c->first.stats;
        sk_search_sums p2p = sk_search_sums_of(st, true), coll = sk_search_sums_of(st, false);
        fprintf(f, "%-10s", c->engine);
        if (c->state == SK_COMPARE_OK)
            fprintf(f, "  %10" PRIu64 " %12" PRIu64 " %12" PRIu64, p2p.searches + coll.searches,
                    p2p.traversals, coll.traversals);
        else
            fprintf(f, "  %10s %12s %12s", "", "", "");
        if (base && c->state == SK_COMPARE_OK)
            print_ratio(f, all_traversals(&list->first.stats), all_traversals(st));
        else
            fprintf(f, " %9s", "");
        print_time(f, c);
        if (c->state == SK_COMPARE_OK)
            fprintf(f, "  %5" PRIu64 " +%5" PRIu64 " %6" PRIu64 " %8" PRIu64,
                    queues_of(st, SK_POSTED), queues_of(st, SK_UNEXPECTED),
                    queue_cap(&k->config, s->nranks), (st->bytes + 1023) / 1024);
        fputc('\n', f);
    }
    fflush(f);
}
