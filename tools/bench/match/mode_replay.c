/* mode_replay.c: the modes that replay streams: synthetic ones (queues of one depth, emptied in
 * every order), models of applications, and traces. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "bench/match/compare.h"
#include "bench/match/match.h"
#include "lab/match/app.h"
#include "match/engine/bin.h"

/* What was run, for the CSV. */
typedef struct csv_subject {
    const char *stream; /* "synthetic", an application or a file */
    uint32_t ranks, depth;
    const char *order, *side; /* "": none */
    int wild;
    bool any_tag;
} csv_subject;

/* A comparison of the engines that the options select. */
static sk_comparison make_comparison(const sk_match_options *o)
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

/* Writes a line to standard error for each engine that disagrees; true: there is one. */
static bool report_wrong(const char *title, const sk_comparison *k)
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

static double per_match(const sk_engine_result *c)
{
    uint64_t matches = c->first.matches ? c->first.matches : 1;
    return (double)all_traversals(&c->first.stats) / (double)matches;
}

static void csv_header(FILE *f)
{
    fputs("stream,ranks,depth,order,side,wild,any_tag,engine,state,rounds,matches,ns,ratio,"
          "ratio_p10,ratio_p90,p2p_searches,p2p_traversals,coll_searches,coll_traversals,"
          "traversals_per_match,queues,bytes,max_posted,mean_posted,max_unexpected,"
          "mean_unexpected",
          f);
    for (int side = 0; side < SK_NSIDES; side++)
        for (int p2p = 1; p2p >= 0; p2p--) {
            const char *s = side == SK_POSTED ? "posted" : "unexpected", *k = p2p ? "p2p" : "coll";
            fprintf(f, ",%s_%s_searches,%s_%s_traversals,%s_%s_added,%s_%s_queues", s, k, s, k, s,
                    k, s, k);
        }
    fputc('\n', f);
}

/* Searches of a queue for items of a kind, what they traverse, and items and queues added to it. */
static void csv_side(FILE *f, const sk_match_stats *s, sk_match_side side, bool p2p)
{
    sk_side_stats t = {0};
    for (int kind = p2p ? 0 : 1; kind < (p2p ? 1 : SK_STATS_KINDS); kind++) {
        t.searches += s->kind[kind][side].searches;
        t.traversals += s->kind[kind][side].traversals;
        t.added += s->kind[kind][side].added;
    }
    fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, t.searches, t.traversals, t.added,
            p2p ? s->queues_p2p[side] : s->queues_coll[side]);
}

static void csv_number(FILE *f, double v)
{
    if (isnan(v))
        fputc(',', f);
    else
        fprintf(f, ",%.6g", v);
}

static void csv_rows(FILE *f, const csv_subject *s, const sk_comparison *k)
{
    for (int i = 0; i < k->n; i++) {
        const sk_engine_result *c = &k->c[i];
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
        for (int side = 0; side < SK_NSIDES; side++)
            for (int p2p = 1; p2p >= 0; p2p--)
                csv_side(f, st, (sk_match_side)side, p2p);
        fputc('\n', f);
    }
    fflush(f);
}

/* Time and its ratio to list, or the reason why there is none: 30 columns. */
static void print_time(FILE *f, const sk_engine_result *c)
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

static void print_depth_header(FILE *f)
{
    fprintf(f, "%8s  %-10s  %9s %8s %12s  %10s %7s %8s\n", "depth", "engine", "ns", "ratio",
            "10%..90%", "traversed", "queues", "KB");
}

/* The rows of one depth. */
static void print_depth(FILE *f, uint32_t depth, const sk_comparison *k)
{
    for (int i = 0; i < k->n; i++) {
        const sk_engine_result *c = &k->c[i];
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

/* The whole table of a stream: lengths of the queues, then a row per engine. */
static void print_stream(FILE *f, const char *title, const sk_stream *s, const sk_comparison *k)
{
    const sk_engine_result *any = sk_compare_fastest(k), *list = sk_compare_find(k, "list");
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
        const sk_engine_result *c = &k->c[i];
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

/* Short queues are filled and emptied again until there are this many pairs. */
enum { PAIRS = 16384 };

typedef struct depth_sweep {
    const sk_match_options *o;
    FILE *csv;
    int done, npoints, status;
    sk_synthetic what;         /* the point that is measured */
    bool slow[SK_COMPARE_MAX]; /* engines that took too long at a smaller depth */
} depth_sweep;

static void print_heading(const sk_synthetic *w)
{
    printf("\n%s, %s order, %d %% of the receives take any source%s, %" PRIu32 " sources\n"
           "ns per match; ratio list / engine (above 1: faster than list), its 10%%..90%% spread; "
           "items traversed per match\n",
           w->first == SK_POSTED ? "posted receives" : "unexpected messages",
           sk_order_name(w->order), w->wild, w->any_tag ? " and tag" : "", w->sources);
    print_depth_header(stdout);
}

static void print_progress(depth_sweep *s)
{
    const sk_synthetic *w = &s->what;
    fprintf(stderr, "[%d/%d] %s, %s, %d %% wild, %" PRIu32 " sources, depth %" PRIu32 "\n",
            ++s->done, s->npoints, w->first == SK_POSTED ? "posted" : "unexpected",
            sk_order_name(w->order), w->wild, w->sources, w->depth);
}

static void measure_point(depth_sweep *s)
{
    char err[256];
    sk_stream stream;
    sk_comparison k = make_comparison(s->o);
    if (k.limit == 0) /* an engine that needs 3 us per match is useless at any depth */
        k.limit = 0.5 + 3e-6 * s->what.pairs;
    print_progress(s);
    for (int i = 0; i < k.n; i++)
        k.c[i].left_out = s->slow[i];
    sk_status st = sk_stream_synthetic(&s->what, &stream);
    if (st != SK_OK) {
        fprintf(stderr, "skein bench match: %s\n", sk_status_text(st));
        s->status = 1;
        return;
    }
    st = sk_compare_run(&k, &stream, err, sizeof err);
    sk_stream_free(&stream);
    if (st != SK_OK || report_wrong("synthetic", &k)) {
        if (st != SK_OK)
            fprintf(stderr, "skein bench match: %s\n", err);
        s->status = 1;
    }
    if (st != SK_OK)
        return;
    for (int i = 0; i < k.n; i++)
        s->slow[i] = k.c[i].state == SK_COMPARE_TOO_LONG;
    print_depth(stdout, s->what.depth, &k);
    fflush(stdout);
    if (s->csv) {
        csv_subject subject = {.stream = "synthetic",
                               .ranks = s->what.sources,
                               .depth = s->what.depth,
                               .order = sk_order_name(s->what.order),
                               .side = s->what.first == SK_POSTED ? "posted" : "unexpected",
                               .wild = s->what.wild,
                               .any_tag = s->what.any_tag};
        csv_rows(s->csv, &subject, &k);
    }
}

/* All depths of one setting, in the order given. An engine that took too long is left out while
 * depths grow. */
static void measure_depths(depth_sweep *s)
{
    int64_t last = 0;
    print_heading(&s->what);
    for (int i = 0; i < s->o->depths.n; i++) {
        int64_t depth = s->o->depths.v[i];
        if (depth < last)
            memset(s->slow, 0, sizeof s->slow);
        last = depth;
        s->what.depth = (uint32_t)depth;
        s->what.pairs = depth > PAIRS ? (uint32_t)depth : PAIRS;
        measure_point(s);
    }
    memset(s->slow, 0, sizeof s->slow);
}

static sk_order order_of(const char *name)
{
    sk_order o = SK_FORWARD;
    while (o < SK_RANDOM && strcmp(name, sk_order_name(o)) != 0)
        o++;
    return o;
}

int sk_mode_synthetic(const sk_match_options *o, FILE *csv)
{
    depth_sweep s = {.o = o, .csv = csv};
    s.npoints = o->sides.n * o->orders.n * o->wild.n * o->sources.n * o->depths.n;
    s.what.any_tag = o->any_tag;
    s.what.seed = (uint64_t)o->seed;
    if (csv)
        csv_header(csv);
    for (int side = 0; side < o->sides.n; side++)
        for (int order = 0; order < o->orders.n; order++)
            for (int wild = 0; wild < o->wild.n; wild++)
                for (int n = 0; n < o->sources.n; n++) {
                    bool posted = strcmp(o->sides.v[side], "posted") == 0;
                    s.what.first = posted ? SK_POSTED : SK_UNEXPECTED;
                    s.what.order = order_of(o->orders.v[order]);
                    s.what.wild = (int)o->wild.v[wild];
                    s.what.sources = (uint32_t)o->sources.v[n];
                    measure_depths(&s);
                }
    return s.status;
}

/* Runs one stream and prints its table. Returns 0, or 1 after a message. */
static int compare_stream(const sk_match_options *o, const char *title, const sk_stream *s,
                          FILE *csv)
{
    char err[256];
    sk_comparison k = make_comparison(o);
    if (sk_compare_run(&k, s, err, sizeof err) != SK_OK) {
        fprintf(stderr, "skein bench match: %s: %s\n", title, err);
        return 1;
    }
    print_stream(stdout, title, s, &k);
    if (csv) {
        csv_subject subject = {.stream = title, .ranks = s->nranks, .order = "", .side = ""};
        csv_rows(csv, &subject, &k);
    }
    return report_wrong(title, &k);
}

int sk_mode_streams(const sk_match_options *o, FILE *csv)
{
    int status = 0, done = 0;
    if (csv)
        csv_header(csv);
    for (int i = 0; i < o->streams.n; i++)
        for (int n = 0; n < o->ranks.n; n++) {
            const sk_app *app = sk_app_find(o->streams.v[i]);
            sk_stream s;
            fprintf(stderr, "[%d/%d] %s, %" PRId64 " ranks\n", ++done, o->streams.n * o->ranks.n,
                    app->name, o->ranks.v[n]);
            sk_status st =
                sk_stream_app(app, (uint32_t)o->ranks.v[n], (int)o->steps, (uint64_t)o->seed, &s);
            if (st != SK_OK) {
                fprintf(stderr, "skein bench match: %s: %s\n", app->name, sk_status_text(st));
                status = 1;
                continue;
            }
            if (compare_stream(o, app->name, &s, csv))
                status = 1;
            sk_stream_free(&s);
        }
    return status;
}

int sk_mode_traces(const sk_match_options *o, FILE *csv)
{
    int status = 0;
    if (csv)
        csv_header(csv);
    for (int i = 0; i < o->traces.n; i++) {
        char err[512];
        sk_stream s;
        fprintf(stderr, "[%d/%d] %s\n", i + 1, o->traces.n, o->traces.v[i]);
        if (sk_stream_read(o->traces.v[i], &s, err, sizeof err) != SK_OK) {
            fprintf(stderr, "skein bench match: %s\n", err);
            status = 1;
            continue;
        }
        if (compare_stream(o, o->traces.v[i], &s, csv))
            status = 1;
        sk_stream_free(&s);
    }
    return status;
}
