/* command.c: `skein report` and `skein advise`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "lab/match/trace_read.h"
#include "report/convert.h"
#include "report/page.h"
#include "report/text.h"

enum { TEXT = SK_CLI_KEY };

typedef struct report_options {
    sk_arena *arena;
    sk_strlist files;
    const char *output;
    bool text;
} report_options;

static const struct argp_option report_table[] = {
    {"output", 'o', "FILE", 0, "where to write the page; -: standard output", 0},
    {"text", TEXT, NULL, 0, "print the report instead", 0},
    {0}};

static bool take(void *ctx, int key, const char *value)
{
    report_options *o = ctx;
    if (key == 'o')
        o->output = value;
    else if (key == TEXT)
        o->text = true;
    else
        sk_strlist_add(&o->files, value);
    return true;
}

static const sk_cli report_cli = {
    .command = "skein report",
    .args = "RUN.json\nA.json B.json",
    .about = "Make a page of a run, or of two runs side by side: one HTML file that needs nothing "
             "else.\v"
             "`skein run --report=run.json` writes the JSON, `skein run --report=html` both.",
    .options = report_table,
    .take = take};

static const sk_cli advise_cli = {
    .command = "skein advise",
    .args = "RUN.json [TRACE...]",
    .about = "Say what a run suggests to change, with the numbers behind it.\v"
             "`skein run --report=run.json` writes the JSON, `skein trace` traces.",
    .options = (const struct argp_option[]){{0}},
    .take = take};

static sk_run_data *load(const sk_cli *cli, sk_arena *a, const char *file)
{
    char err[SK_RUN_ERR];
    sk_run_data *d = sk_run_data_load(a, file, err);
    if (!d)
        sk_cli_error(cli, "%s", err);
    return d;
}

/* ---- report ---- */

static const char *without_end(sk_arena *a, const char *file, const char *end)
{
    size_t n = strlen(file), m = strlen(end);
    return n > m && strcmp(file + n - m, end) == 0 ? sk_format(a, "%.*s", (int)(n - m), file)
                                                   : file;
}

static const char *page_name(sk_arena *a, const sk_strlist *files)
{
    const char *last = without_end(a, files->v[files->n - 1], ".json");
    return files->n == 1 ? sk_format(a, "%s.html", last)
                         : sk_format(a, "%s-against-%s.html", last,
                                     without_end(a, sk_basename(files->v[0]), ".json"));
}

static int write_page(const report_options *o, const sk_run_data *const d[2])
{
    const char *name = o->output ? o->output : page_name(o->arena, &o->files);
    bool standard = strcmp(name, "-") == 0;
    for (int i = 0; i < o->files.n; i++)
        if (strcmp(name, o->files.v[i]) == 0)
            return sk_cli_error(&report_cli, "%s is what is read; name another file", name), 2;
    FILE *out = standard ? stdout : fopen(name, "we");
    if (!out)
        return sk_cli_error(&report_cli, "cannot write %s: %s", name, strerror(errno)), 1;
    if (o->files.n == 2)
        sk_page_compare(out, o->arena, d[0], d[1]);
    else
        sk_page_run(out, o->arena, d[0]);
    bool failed = ferror(out) != 0;
    if ((standard ? fflush(out) : fclose(out)) != 0 || failed)
        return sk_cli_error(&report_cli, "cannot write %s: %s", name, strerror(errno)), 1;
    if (!standard)
        printf("wrote %s\n", name);
    return 0;
}

static int report(const report_options *o)
{
    const sk_run_data *d[2] = {NULL, NULL};
    if (o->files.n < 1 || o->files.n > 2)
        return sk_cli_error(&report_cli, "it takes one report in JSON, or two to compare"), 2;
    for (int i = 0; i < o->files.n; i++)
        if (!(d[i] = load(&report_cli, o->arena, o->files.v[i])))
            return 1;
    if (!o->text)
        return write_page(o, d);
    if (o->files.n == 2)
        sk_text_compare(stdout, o->arena, d[0], d[1]);
    else
        sk_text_run(stdout, o->arena, d[0]);
    return 0;
}

int sk_cmd_report(int argc, char **argv)
{
    report_options o = {.arena = sk_arena_new()};
    if (!o.arena)
        return sk_cli_error(&report_cli, "out of memory"), 1;
    o.files = sk_strlist_new(o.arena);
    int status = sk_cli_parse(&report_cli, &o, argc, argv, NULL);
    status = status == SK_CLI_OK ? report(&o) : status;
    sk_arena_free(o.arena);
    return status;
}

bool sk_report_to_page(sk_arena *a, const char *json, const char *page, char err[SK_RUN_ERR])
{
    const sk_run_data *d = sk_run_data_load(a, json, err);
    FILE *out = d ? fopen(page, "we") : NULL;
    if (out)
        sk_page_run(out, a, d);
    if (d && (!out || fclose(out) != 0))
        snprintf(err, SK_RUN_ERR, "cannot write %.300s: %s", page, strerror(errno));
    else if (d)
        return true;
    return false;
}

/* ---- advise ---- */

/* Adds the queue lengths of a trace, of all its processes. */
static bool add_trace(const char *file, sk_traced *t, double sums[2], double searches[2])
{
    char err[512];
    uint32_t nranks;
    sk_trace_record *r = NULL;
    size_t n = 0;
    if (sk_trace_read(file, &nranks, &r, &n, err, sizeof err) != SK_OK)
        return sk_cli_error(&advise_cli, "%s; `skein trace` writes such files", err);
    for (size_t i = 0; i < n; i++) {
        if (r[i].op != SK_TRACE_POST && r[i].op != SK_TRACE_DELIVER)
            continue;
        bool posted = r[i].op == SK_TRACE_DELIVER; /* a message searches the posted receives */
        double *most = posted ? &t->posted_most : &t->unexpected_most;
        *most = r[i].depth > *most ? r[i].depth : *most;
        sums[posted] += r[i].depth;
        searches[posted]++;
        t->operations++;
    }
    free(r);
    return true;
}

static bool read_traces(const sk_strlist *files, sk_traced *t)
{
    double sums[2] = {0}, searches[2] = {0};
    for (int i = 1; i < files->n; i++)
        if (!add_trace(files->v[i], t, sums, searches))
            return false;
    t->posted_mean = searches[true] > 0 ? sums[true] / searches[true] : 0;
    t->unexpected_mean = searches[false] > 0 ? sums[false] / searches[false] : 0;
    return true;
}

static int advise(const report_options *o)
{
    sk_traced t = {0};
    if (o->files.n < 1)
        return sk_cli_error(&advise_cli,
                            "it takes a report in JSON, which `skein run --report=FILE` writes"),
               2;
    const sk_run_data *d = load(&advise_cli, o->arena, o->files.v[0]);
    if (!d || !read_traces(&o->files, &t))
        return 1;
    sk_text_tips(stdout, o->arena, d, o->files.n > 1 ? &t : NULL);
    return 0;
}

int sk_cmd_advise(int argc, char **argv)
{
    report_options o = {.arena = sk_arena_new()};
    if (!o.arena)
        return sk_cli_error(&advise_cli, "out of memory"), 1;
    o.files = sk_strlist_new(o.arena);
    int status = sk_cli_parse(&advise_cli, &o, argc, argv, NULL);
    status = status == SK_CLI_OK ? advise(&o) : status;
    sk_arena_free(o.arena);
    return status;
}
