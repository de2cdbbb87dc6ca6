/* mode_synthetic.c: queues of one depth, emptied in every order. */
#include <inttypes.h>
#include <string.h>

#include "bench/match/modes.h"
#include "bench/match/report.h"

/* Short queues are filled and emptied again until there are this many pairs. */
enum { PAIRS = 16384 };

typedef struct sweep {
    const sk_match_options *o;
    FILE *csv;
    int done, npoints, status;
    sk_synthetic what;         /* of the point that runs */
    bool slow[SK_CONTEST_MAX]; /* engines that took too long at a smaller depth */
} sweep;

static void heading(const sk_synthetic *w)
{
    printf("\n%s, %s order, %d %% of the receives take any source%s, %" PRIu32 " sources\n"
           "ns per match; ratio list / engine (above 1: faster than list), its 10%%..90%% spread; "
           "items looked at per match\n",
           w->first == SK_POSTED ? "posted receives" : "unexpected messages",
           sk_order_name(w->order), w->wild, w->any_tag ? " and tag" : "", w->sources);
    sk_report_depth_header(stdout);
}

static void progress(sweep *s)
{
    const sk_synthetic *w = &s->what;
    fprintf(stderr, "[%d/%d] %s, %s, %d %% wild, %" PRIu32 " sources, depth %" PRIu32 "\n",
            ++s->done, s->npoints, w->first == SK_POSTED ? "posted" : "unexpected",
            sk_order_name(w->order), w->wild, w->sources, w->depth);
}

static void point(sweep *s)
{
    char err[256];
    sk_stream stream;
    sk_contest k = sk_report_contest(s->o);
    if (k.limit == 0) /* an engine that needs 3 us for a match is no good at any depth */
        k.limit = 0.5 + 3e-6 * s->what.pairs;
    progress(s);
    for (int i = 0; i < k.n; i++)
        k.c[i].left_out = s->slow[i];
    sk_status st = sk_stream_synthetic(&s->what, &stream);
    if (st != SK_OK) {
        fprintf(stderr, "skein bench match: %s\n", sk_status_text(st));
        s->status = 1;
        return;
    }
    st = sk_contest_run(&k, &stream, err, sizeof err);
    sk_stream_free(&stream);
    if (st != SK_OK || sk_report_wrong("synthetic", &k)) {
        if (st != SK_OK)
            fprintf(stderr, "skein bench match: %s\n", err);
        s->status = 1;
    }
    if (st != SK_OK)
        return;
    for (int i = 0; i < k.n; i++)
        s->slow[i] = k.c[i].fate == SK_FATE_TOO_LONG;
    sk_report_depth(stdout, s->what.depth, &k);
    fflush(stdout);
    if (s->csv) {
        sk_subject subject = {.stream = "synthetic",
                              .ranks = s->what.sources,
                              .depth = s->what.depth,
                              .order = sk_order_name(s->what.order),
                              .side = s->what.first == SK_POSTED ? "posted" : "unexpected",
                              .wild = s->what.wild,
                              .any_tag = s->what.any_tag};
        sk_report_csv(s->csv, &subject, &k);
    }
}

/* All depths of one setting, in the order given; an engine that was given up stays out while depths
 * grow. */
static void depths(sweep *s)
{
    int64_t last = 0;
    heading(&s->what);
    for (int i = 0; i < s->o->depths.n; i++) {
        int64_t depth = s->o->depths.v[i];
        if (depth < last)
            memset(s->slow, 0, sizeof s->slow);
        last = depth;
        s->what.depth = (uint32_t)depth;
        s->what.pairs = depth > PAIRS ? (uint32_t)depth : PAIRS;
        point(s);
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
    sweep s = {.o = o, .csv = csv};
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
                    depths(&s);
                }
    return s.status;
}
