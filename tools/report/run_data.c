#include "report/run_data.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "strlist.h"

enum { MOST_ROWS = 8192, MOST_BINS = 1024, MOST_BUCKETS = 128, MOST_BYTES = 32 << 20 };

typedef struct reading {
    sk_arena *arena;
    const char *file;
    char *err;
} reading;

static bool wrong(reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(reading *r, const char *format, ...)
{
    char what[SK_RUN_ERR / 2];
    va_list args;
    if (*r->err)
        return false;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(r->err, SK_RUN_ERR,
             "%.120s is no report of this Skein: %s; `skein run --report=FILE` writes one", r->file,
             what);
    return false;
}

/* ---- members ---- */

static double signed_number(reading *r, const sk_json *o, const char *key)
{
    const sk_json *v = sk_json_get(o, key);
    if (!v || v->kind != SK_JSON_NUMBER || v->number > 1e18 || v->number < -1e18) {
        wrong(r, "'%s' is %s", key, v ? "no number, or too large" : "missing");
        return 0;
    }
    return v->number;
}

static double number(reading *r, const sk_json *o, const char *key)
{
    double x = signed_number(r, o, key);
    if (x < 0)
        wrong(r, "'%s' is negative", key);
    return x < 0 ? 0 : x;
}

/* NULL: it is null, if that may be. */
static const char *text(reading *r, const sk_json *o, const char *key, bool may_be_null)
{
    const sk_json *v = sk_json_get(o, key);
    if (v && v->kind == SK_JSON_STRING)
        return v->text;
    if (!v || v->kind != SK_JSON_NULL || !may_be_null)
        wrong(r, "'%s' is %s", key, v ? "no text" : "missing");
    return may_be_null ? NULL : "";
}

static const sk_json *object(reading *r, const sk_json *o, const char *key)
{
    const sk_json *v = sk_json_get(o, key);
    if (v && v->kind == SK_JSON_OBJECT)
        return v;
    wrong(r, "'%s' is %s", key, v ? "no object" : "missing");
    return NULL;
}

/* Its length is *n. NULL: empty, or wrong. */
static const sk_json *array(reading *r, const sk_json *o, const char *key, int most, int *n)
{
    const sk_json *v = sk_json_get(o, key);
    *n = 0;
    if (!v || v->kind != SK_JSON_ARRAY) {
        wrong(r, "'%s' is %s", key, v ? "no array" : "missing");
        return NULL;
    }
    if (v->n > most) {
        wrong(r, "'%s' has %d elements, where %d are the most", key, v->n, most);
        return NULL;
    }
    *n = v->n;
    return v->first;
}

/* Rows of objects: the elements of `key`, for which there is memory, into *rows. */
static const sk_json *rows_of(reading *r, const sk_json *o, const char *key, size_t size,
                              void *rows, int *n)
{
    const sk_json *first = array(r, o, key, MOST_ROWS, n);
    void *memory = sk_arena_need(r->arena, (size_t)(*n + 1) * size);
    memcpy(rows, &memory, sizeof memory);
    for (const sk_json *e = first; e; e = e->next)
        if (e->kind != SK_JSON_OBJECT) {
            wrong(r, "an element of '%s' is no object", key);
            *n = 0;
            return NULL;
        }
    return first;
}

static double *numbers_of(reading *r, const sk_json *first, int n)
{
    double *v = sk_arena_need(r->arena, (size_t)(n + 1) * sizeof *v);
    for (int i = 0; first && i < n; i++, first = first->next) {
        if (first->kind != SK_JSON_NUMBER || first->number < 0 || first->number > 1e18)
            wrong(r, "an array has something else than numbers");
        else
            v[i] = first->number;
    }
    return v;
}

static double *numbers(reading *r, const sk_json *o, const char *key, int most, int *n)
{
    const sk_json *first = array(r, o, key, most, n);
    return numbers_of(r, first, *n);
}

/* ---- parts ---- */

static void take_rows(reading *r, const sk_json *root, sk_run_data *d)
{
    sk_run_row *x = NULL;
    const sk_json *e = rows_of(r, root, "rows", sizeof *x, &d->rows, &d->nrows);
    for (x = d->rows; e; e = e->next, x++) {
        *x = (sk_run_row){.coll = text(r, e, "collective", false),
                          .size = text(r, e, "size", false),
                          .algo = text(r, e, "algorithm", true),
                          .host = text(r, e, "host", true),
                          .calls = number(r, e, "calls"),
                          .seconds = number(r, e, "seconds")};
        if (!x->algo && !x->host)
            wrong(r, "a row has neither an algorithm nor a reason");
        d->calls += x->calls;
        *(x->algo ? &d->skein_seconds : &d->host_seconds) += x->seconds;
    }
}

static void take_value(reading *r, const sk_json *root, sk_run_data *d)
{
    const sk_json *v = object(r, root, "value");
    sk_run_value *x = NULL;
    d->comparisons = number(r, v, "comparisons");
    d->compared_part = number(r, v, "compared_part");
    d->saved = signed_number(r, v, "saved_seconds");
    d->without = signed_number(r, v, "seconds_without_skein");
    const sk_json *e = rows_of(r, v, "rows", sizeof *x, &d->values, &d->nvalues);
    for (x = d->values; e; e = e->next, x++)
        *x = (sk_run_value){.coll = text(r, e, "collective", false),
                            .size = text(r, e, "size", false),
                            .comparisons = number(r, e, "comparisons"),
                            .skein_us = number(r, e, "skein_us"),
                            .host_us = number(r, e, "host_us"),
                            .ratio = number(r, e, "ratio"),
                            .saved = signed_number(r, e, "saved_seconds")};
}

static void take_timeline(reading *r, const sk_json *root, sk_run_data *d)
{
    const sk_json *t = object(r, root, "timeline");
    sk_run_line *x = NULL;
    d->bin_seconds = number(r, t, "bin_seconds");
    const sk_json *e = rows_of(r, t, "rows", sizeof *x, &d->lines, &d->nlines);
    for (x = d->lines; e; e = e->next, x++) {
        x->coll = text(r, e, "collective", false);
        x->seconds = numbers(r, e, "seconds", MOST_BINS, &x->n);
        for (int i = 0; i < x->n; i++)
            x->sum += x->seconds[i];
        d->mean_seconds += x->sum;
        d->nbins = x->n > d->nbins ? x->n : d->nbins;
    }
}

static sk_run_sampled sampled_of(reading *r, const sk_json *o)
{
    return (sk_run_sampled){number(r, o, "sampled_calls"), number(r, o, "sampled_seconds"),
                            number(r, o, "waited_seconds"), number(r, o, "spread_us"),
                            number(r, o, "most_spread_us")};
}

static void take_comms(reading *r, const sk_json *root, sk_run_data *d)
{
    sk_run_comm *x = NULL;
    const sk_json *e = rows_of(r, root, "communicators", sizeof *x, &d->comms, &d->ncomms);
    for (x = d->comms; e; e = e->next, x++)
        *x = (sk_run_comm){.name = text(r, e, "name", false),
                           .ranks = number(r, e, "ranks"),
                           .groups = number(r, e, "groups"),
                           .communicators = number(r, e, "communicators"),
                           .calls = number(r, e, "calls"),
                           .seconds = number(r, e, "seconds"),
                           .most_seconds = number(r, e, "most_seconds"),
                           .sampled = sampled_of(r, e)};
}

static void take_graphs(reading *r, const sk_json *root, sk_run_data *d)
{
    sk_run_graph *x = NULL;
    const sk_json *e = rows_of(r, root, "neighborhoods", sizeof *x, &d->graphs, &d->ngraphs);
    for (x = d->graphs; e; e = e->next, x++)
        *x = (sk_run_graph){.name = text(r, e, "name", false),
                            .algo = text(r, e, "algorithm", true),
                            .ranks = number(r, e, "ranks"),
                            .groups = number(r, e, "groups"),
                            .calls = number(r, e, "calls"),
                            .least_in = number(r, e, "least_in"),
                            .mean_in = number(r, e, "mean_in"),
                            .most_in = number(r, e, "most_in"),
                            .least_out = number(r, e, "least_out"),
                            .mean_out = number(r, e, "mean_out"),
                            .most_out = number(r, e, "most_out"),
                            .local = number(r, e, "local_part")};
}

static void take_matrix(reading *r, const sk_json *w, sk_run_data *d)
{
    int n = 0, i = 0;
    const sk_json *row = array(r, w, "matrix", MOST_BUCKETS, &n);
    if (n != d->nbuckets) {
        wrong(r, "'matrix' has %d rows, 'rank_time' %d", n, d->nbuckets);
        return;
    }
    d->matrix = sk_arena_need(r->arena, (size_t)(n * n + 1) * sizeof *d->matrix);
    for (; row; row = row->next, i++) {
        if (row->kind != SK_JSON_ARRAY || row->n != n) {
            wrong(r, "'matrix' is not square");
            return;
        }
        memcpy(d->matrix + (size_t)i * (size_t)n, numbers_of(r, row->first, n),
               (size_t)n * sizeof *d->matrix);
    }
}

static void take_waiting(reading *r, const sk_json *root, sk_run_data *d)
{
    const sk_json *t = object(r, root, "rank_time"), *w = object(r, root, "waiting");
    int n = 0;
    sk_run_wait *x = NULL;
    sk_run_late *late = NULL;
    d->ranks_each = number(r, t, "ranks_each");
    d->rank_seconds = numbers(r, t, "seconds", MOST_BUCKETS, &d->nbuckets);
    d->rank_waited = numbers(r, t, "waited_seconds", MOST_BUCKETS, &n);
    if (n != d->nbuckets || (n && d->ranks_each < 1))
        wrong(r, "the arrays of 'rank_time' differ");
    d->sampled = sampled_of(r, w);
    take_matrix(r, w, d);
    const sk_json *e = rows_of(r, w, "collectives", sizeof *x, &d->waits, &d->nwaits);
    for (x = d->waits; e; e = e->next, x++)
        *x = (sk_run_wait){text(r, e, "collective", false), sampled_of(r, e)};
    e = rows_of(r, w, "late", sizeof *late, &d->late, &d->nlate);
    for (late = d->late; e; e = e->next, late++)
        *late = (sk_run_late){number(r, e, "rank"), number(r, e, "node"), number(r, e, "last"),
                              number(r, e, "caused_seconds")};
}

static void take_traffic(reading *r, const sk_json *root, sk_run_data *d)
{
    const sk_json *t = object(r, root, "traffic"), *off = object(r, t, "between_nodes"),
                  *near = object(r, t, "inside_nodes");
    d->off_messages = number(r, off, "messages");
    d->off_bytes = number(r, off, "bytes");
    d->busiest_messages = number(r, off, "busiest_messages");
    d->busiest_bytes = number(r, off, "busiest_bytes");
    d->near_messages = number(r, near, "messages");
    d->near_bytes = number(r, near, "bytes");
    d->shared_bytes = number(r, t, "shared_memory_bytes");
    d->sparse_blocks = number(r, t, "alltoallv_blocks");
    d->sparse_filled = number(r, t, "alltoallv_filled");
}

static sk_run_queue queue_of(reading *r, const sk_json *o, const char *key)
{
    const sk_json *q = object(r, o, key);
    return (sk_run_queue){number(r, q, "longest"), number(r, q, "mean"), number(r, q, "searches"),
                          number(r, q, "compared")};
}

static void take_matching(reading *r, const sk_json *root, sk_run_data *d)
{
    const sk_json *m = sk_json_get(root, "matching");
    d->matched = m && m->kind != SK_JSON_NULL;
    if (!d->matched)
        return;
    d->engine = text(r, m, "engine", true);
    d->posted = queue_of(r, m, "posted");
    d->unexpected = queue_of(r, m, "unexpected");
}

static void take_head(reading *r, const sk_json *root, sk_run_data *d)
{
    const char *format = text(r, root, "format", false);
    if (strcmp(format, "skein-report") != 0)
        wrong(r, "'format' is not 'skein-report'");
    double version = number(r, root, "version");
    if (version != SK_REPORT_VERSION)
        wrong(r, "its version is %g, and %d is read here", version, SK_REPORT_VERSION);
    d->skein = text(r, root, "skein", false);
    d->mpi = text(r, root, "mpi", true);
    d->program = text(r, root, "program", true);
    d->end = text(r, root, "end", false);
    d->ranks = number(r, root, "ranks");
    d->counted = number(r, root, "counted");
    d->nodes = number(r, root, "nodes");
    d->cores = number(r, root, "cores");
    d->run_seconds = number(r, root, "run_seconds");
    d->built = number(r, root, "plans_built");
    d->evicted = number(r, root, "plans_evicted");
}

/* ---- what follows from it ---- */

static int by_time(const void *a, const void *b)
{
    const sk_run_cell *x = a, *y = b;
    double s = x->skein + x->host, t = y->skein + y->host;
    return (s < t) - (s > t);
}

static sk_run_cell *cell_of(sk_run_data *d, const char *coll, const char *size)
{
    int i = 0;
    while (i < d->ncells &&
           (strcmp(d->cells[i].coll, coll) != 0 || strcmp(d->cells[i].size, size) != 0))
        i++;
    if (i == d->ncells)
        d->cells[d->ncells++] = (sk_run_cell){.coll = coll, .size = size};
    return &d->cells[i];
}

static void find_cells(sk_arena *a, sk_run_data *d)
{
    d->cells = sk_arena_need(a, (size_t)(d->nrows + d->nvalues + 1) * sizeof *d->cells);
    for (int i = 0; i < d->nrows; i++) {
        sk_run_cell *c = cell_of(d, d->rows[i].coll, d->rows[i].size);
        c->calls += d->rows[i].calls;
        *(d->rows[i].algo ? &c->skein : &c->host) += d->rows[i].seconds;
    }
    for (int i = 0; i < d->nvalues; i++)
        cell_of(d, d->values[i].coll, d->values[i].size)->value = &d->values[i];
    qsort(d->cells, (size_t)d->ncells, sizeof *d->cells, by_time);
}

static int by_sum(const void *a, const void *b)
{
    const sk_run_line *x = a, *y = b;
    return (x->sum < y->sum) - (x->sum > y->sum);
}

double sk_run_waited_part(const sk_run_data *d)
{
    if (d->sampled.seconds <= 0)
        return -1;
    return d->sampled.waited < d->sampled.seconds ? d->sampled.waited / d->sampled.seconds : 1;
}

sk_run_data *sk_run_data_parse(sk_arena *a, const char *file, const char *json, size_t len,
                               char err[SK_RUN_ERR])
{
    char why[SK_JSON_ERR];
    reading r = {.arena = a, .file = file, .err = err};
    err[0] = '\0';
    const sk_json *root = sk_json_read(a, json, len, why);
    if (!root || root->kind != SK_JSON_OBJECT) {
        wrong(&r, "%s", root ? "it is no object" : why);
        return NULL;
    }
    sk_run_data *d = sk_arena_need(a, sizeof *d);
    d->file = file;
    take_head(&r, root, d);
    if (*err) /* a file of another kind: do not name what else is missing */
        return NULL;
    take_rows(&r, root, d);
    take_value(&r, root, d);
    take_timeline(&r, root, d);
    take_traffic(&r, root, d);
    take_matching(&r, root, d);
    if (sk_json_get(root, "communicators")) { /* else the job did not come to MPI_Finalize */
        take_comms(&r, root, d);
        take_graphs(&r, root, d);
        take_waiting(&r, root, d);
    }
    if (*err)
        return NULL;
    find_cells(a, d);
    if (d->nlines)
        qsort(d->lines, (size_t)d->nlines, sizeof *d->lines, by_sum);
    return d;
}

sk_run_data *sk_run_data_load(sk_arena *a, const char *file, char err[SK_RUN_ERR])
{
    FILE *f = fopen(file, "re");
    if (!f) {
        snprintf(err, SK_RUN_ERR, "cannot read %.200s: %s", file, strerror(errno));
        return NULL;
    }
    size_t n = 0, cap = 1 << 16;
    char *json = malloc(cap);
    for (size_t got = 1; json && got && n < MOST_BYTES; n += got) {
        if (cap - n < cap / 2)
            json = realloc(json, cap *= 2);
        got = json ? fread(json + n, 1, cap - n < MOST_BYTES - n ? cap - n : MOST_BYTES - n, f) : 0;
    }
    bool failed = ferror(f) != 0;
    fclose(f);
    sk_run_data *d = NULL;
    if (!json || failed)
        snprintf(err, SK_RUN_ERR, "cannot read %.200s: %s", file, strerror(failed ? EIO : ENOMEM));
    else if (n >= MOST_BYTES)
        snprintf(err, SK_RUN_ERR,
                 "%.200s is too large for a report of Skein, which has at most %d MB", file,
                 MOST_BYTES >> 20);
    else
        d = sk_run_data_parse(a, file, json, n, err);
    free(json);
    return d;
}
