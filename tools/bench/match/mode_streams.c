/* mode_streams.c: applications and recorded programs. */
#include <inttypes.h>

#include "bench/match/modes.h"
#include "bench/match/report.h"

/* 0, or 1 after a message. */
static int play(const sk_match_options *o, const char *title, const sk_stream *s, FILE *csv)
{
    char err[256];
    sk_contest k = sk_report_contest(o);
    if (sk_contest_run(&k, s, err, sizeof err) != SK_OK) {
        fprintf(stderr, "skein bench match: %s: %s\n", title, err);
        return 1;
    }
    sk_report_stream(stdout, title, s, &k);
    if (csv) {
        sk_subject subject = {.stream = title, .ranks = s->nranks, .order = "", .side = ""};
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
            if (play(o, app->name, &s, csv))
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
        if (play(o, o->traces.v[i], &s, csv))
            status = 1;
        sk_stream_free(&s);
    }
    return status;
}
