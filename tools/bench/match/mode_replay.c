/* mode_replay.c: the modes that replay streams: synthetic ones (queues of one depth, emptied in
 * every order), models of applications, and traces. */
#include <inttypes.h>
#include <string.h>

#include "bench/match/match.h"
#include "bench/match/report.h"
#include "lab/match/app.h"

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
    sk_report_depth_header(stdout);
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
    sk_comparison k = sk_report_comparison(s->o);
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
    if (st != SK_OK || sk_report_wrong("synthetic", &k)) {
        if (st != SK_OK)
            fprintf(stderr, "skein bench match: %s\n", err);
        s->status = 1;
    }
    if (st != SK_OK)
        return;
    for (int i = 0; i < k.n; i++)
        s->slow[i] = k.c[i].state == SK_COMPARE_TOO_LONG;
    sk_report_depth(stdout, s->what.depth, &k);
    fflush(stdout);
    if (s->csv) {
        sk_report_subject subject = {.stream = "synthetic",
                                     .ranks = s->what.sources,
                                     .depth = s->what.depth,
                                     .order = sk_order_name(s->what.order),
                                     .side = s->what.first == SK_POSTED ? "posted" : "unexpected",
                                     .wild = s->what.wild,
                                     .any_tag = s->what.any_tag};
        sk_report_csv(s->csv, &subject, &k);
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
        sk_report_csv_header(csv);
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
    sk_comparison k = sk_report_comparison(o);
    if (sk_compare_run(&k, s, err, sizeof err) != SK_OK) {
        fprintf(stderr, "skein bench match: %s: %s\n", title, err);
        return 1;
    }
    sk_report_stream(stdout, title, s, &k);
    if (csv) {
        sk_report_subject subject = {.stream = title, .ranks = s->nranks, .order = "", .side = ""};
        sk_report_csv(csv, &subject, &k);
    }
    return sk_report_wrong(title, &k);
}

int sk_mode_streams(const sk_match_options *o, FILE *csv)
{
    int status = 0, done = 0;
    if (csv)
        sk_report_csv_header(csv);
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
        sk_report_csv_header(csv);
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
