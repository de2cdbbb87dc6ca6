#include "bench/match/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

sk_contest sk_report_contest(const sk_match_options *o)
{
    sk_contest k = {.rounds = o->rounds, .limit = o->limit, .seconds = o->seconds};
    k.config.kc = (uint32_t)o->kc;
    k.config.kp = (uint32_t)o->kp;
    k.config.theta = (uint32_t)o->theta;
    for (int i = 0; i < o->engines.n && k.n < SK_CONTEST_MAX; i++)
        k.c[k.n++].engine = o->engines.v[i];
    return k;
}

uint64_t sk_report_cap(const sk_match_config *c, uint32_t nranks)
{
    enum { DEFAULT_K = 8 };
    uint32_t k = (c->kc ? c->kc : DEFAULT_K) + (c->kp ? c->kp : DEFAULT_K);
    return (uint64_t)(k * sqrt((double)nranks));
}

uint64_t sk_report_queues(const sk_match_stats *s, sk_match_side side)
{
    return s->queues_coll[side] + s->queues_p2p[side];
}

bool sk_report_wrong(const char *title, const sk_contest *k)
{
    for (int i = 0; i < k->n; i++)
        if (k->c[i].fate == SK_FATE_WRONG)
            fprintf(stderr, "skein bench match: %s: %s gives other matches than the others\n",
                    title, k->c[i].engine);
    return sk_contest_wrong(k);
}

static const char *fate_name(sk_fate fate)
{
    static const char *const names[] = {"ok", "too long", "WRONG"};
    return names[fate];
}

static uint64_t all_traversals(const sk_match_stats *s)
{
    return sk_tally_of(s, true).traversals + sk_tally_of(s, false).traversals;
}

static double per_match(const sk_contestant *c)
{
    uint64_t matches = c->played.matches ? c->played.matches : 1;
    return (double)all_traversals(&c->played.stats) / (double)matches;
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

void sk_report_csv(FILE *f, const sk_subject *s, const sk_contest *k)
{
    for (int i = 0; i < k->n; i++) {
        const sk_contestant *c = &k->c[i];
        const sk_match_stats *st = &c->played.stats;
        sk_tally p2p = sk_tally_of(st, true), coll = sk_tally_of(st, false);
        fprintf(f, "\"%s\",%" PRIu32 ",%" PRIu32 ",%s,%s,%d,%s,%s,%s,%d,%" PRIu64, s->stream,
                s->ranks, s->depth, s->order, s->side, s->wild, s->any_tag ? "yes" : "no",
                c->engine, fate_name(c->fate), c->rounds, c->played.matches);
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

/* Time and its ratio to list, or why there are none: 30 columns. */
static void print_time(FILE *f, const sk_contestant *c)
{
    if (c->fate != SK_FATE_RAN || isnan(c->ns)) {
        fprintf(f, "  %9s %8s %12s", c->fate == SK_FATE_RAN ? "-" : fate_name(c->fate), "", "");
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
            "10%..90%", "looked at", "queues", "KB");
}

void sk_report_depth(FILE *f, uint32_t depth, const sk_contest *k)
{
    for (int i = 0; i < k->n; i++) {
        const sk_contestant *c = &k->c[i];
        const sk_match_stats *s = &c->played.stats;
        fprintf(f, "%8" PRIu32 "  %-10s", depth, c->engine);
        print_time(f, c);
        if (c->fate == SK_FATE_RAN)
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

void sk_report_stream(FILE *f, const char *title, const sk_stream *s, const sk_contest *k)
{
    const sk_contestant *any = sk_contest_any(k), *list = sk_contest_find(k, "list");
    bool base = list && list->fate == SK_FATE_RAN;
    fprintf(f, "\n%s, %" PRIu32 " ranks: %zu operations", title, s->nranks, s->n);
    if (any) {
        const sk_match_stats *st = &any->played.stats;
        fprintf(f,
                ", %" PRIu64 " matches; posted queue mean %.4g, longest %" PRIu64
                "; unexpected mean %.4g, longest %" PRIu64,
                any->played.matches, st->mean_length[SK_POSTED], st->max_length[SK_POSTED],
                st->mean_length[SK_UNEXPECTED], st->max_length[SK_UNEXPECTED]);
    }
    fprintf(f,
            "\nqueued items looked at for point-to-point and collective items; ratios are list / "
            "engine "
            "(above 1: better than list)\n%-10s  %10s %12s %12s %9s  %9s %8s %12s  %12s %6s %8s\n",
            "engine", "searches", "p2p", "collective", "ratio", "ns/match", "ratio", "10%..90%",
            "queues p + u", "cap", "KB");
    for (int i = 0; i < k->n; i++) {
        const sk_contestant *c = &k->c[i];
        const sk_match_stats *st = &c->played.stats;
        sk_tally p2p = sk_tally_of(st, true), coll = sk_tally_of(st, false);
        fprintf(f, "%-10s", c->engine);
        if (c->fate == SK_FATE_RAN)
            fprintf(f, "  %10" PRIu64 " %12" PRIu64 " %12" PRIu64, p2p.searches + coll.searches,
                    p2p.traversals, coll.traversals);
        else
            fprintf(f, "  %10s %12s %12s", "", "", "");
        if (base && c->fate == SK_FATE_RAN)
            print_ratio(f, all_traversals(&list->played.stats), all_traversals(st));
        else
            fprintf(f, " %9s", "");
        print_time(f, c);
        if (c->fate == SK_FATE_RAN)
            fprintf(f, "  %5" PRIu64 " +%5" PRIu64 " %6" PRIu64 " %8" PRIu64,
                    sk_report_queues(st, SK_POSTED), sk_report_queues(st, SK_UNEXPECTED),
                    sk_report_cap(&k->config, s->nranks), (st->bytes + 1023) / 1024);
        fputc('\n', f);
    }
    fflush(f);
}
