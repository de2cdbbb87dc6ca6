#include "tune/app.h"

#include <stdio.h>
#include <string.h>

#include "report/report.h"

enum { MOST_CELLS = 256, LINE = 512 };

/* Seconds in calls of a collective and size, from the rows of the report. */
typedef struct app_times {
    double seconds[SK_NCOLLS][16];
    const char *size[16];
    int nsizes;
} app_times;

static int size_index(app_times *t, const char *label)
{
    int i = 0;
    while (i < t->nsizes && strcmp(t->size[i], label) != 0)
        i++;
    return i;
}

static void find_sizes(app_times *t)
{
    for (int64_t bytes = 0; bytes < INT64_C(1) << 40; bytes = 2 * bytes + 1) {
        const char *label = sk_report_size(bytes);
        int i = size_index(t, label);
        if (i == t->nsizes && i < 16)
            t->size[t->nsizes++] = label;
    }
}

/* {"collective": "bcast", "size": "<= 64 B", "algorithm": ..., "calls": 3, "seconds": 0.1} */
static void take_row(app_times *t, const char *line)
{
    char coll[32], label[24];
    double seconds;
    const char *at = strstr(line, "\"seconds\": ");
    if (!at ||
        sscanf(line, " {\"collective\": \"%31[a-z_]\", \"size\": \"%23[^\"]\"", coll, label) != 2 ||
        sscanf(at, "\"seconds\": %lf", &seconds) != 1)
        return;
    sk_coll c = sk_coll_find(coll);
    int i = size_index(t, label);
    if (c != SK_NCOLLS && i < t->nsizes)
        t->seconds[c][i] += seconds;
}

static void take_shape(const char *line, sk_tune_app *out)
{
    char coll[32];
    sk_tune_cell c = {0};
    long long bytes;
    int near;
    if (sscanf(line,
               " {\"collective\": \"%31[a-z_]\", \"ranks\": %d, \"nodes\": %d, \"neighbours\": %d, "
               "\"bytes\": %lld",
               coll, &c.ranks, &c.nodes, &near, &bytes) != 5)
        return;
    c.coll = sk_form_find(coll, &c.form);
    c.bytes = bytes;
    if (c.coll == SK_NCOLLS || out->n == MOST_CELLS)
        return;
    for (int i = 0; i < out->n; i++) /* the same by another algorithm */
        if (out->cells[i].coll == c.coll && out->cells[i].form == c.form &&
            out->cells[i].ranks == c.ranks && out->cells[i].nodes == c.nodes &&
            out->cells[i].bytes == c.bytes && out->neighbours[i] == near)
            return;
    out->neighbours[out->n] = near;
    out->cells[out->n++] = c;
}

bool sk_tune_app_read(sk_arena *a, const char *file, sk_tune_app *out)
{
    char line[LINE];
    app_times t = {0};
    FILE *f = fopen(file, "r");
    *out = (sk_tune_app){.cells = sk_arena_need(a, MOST_CELLS * sizeof *out->cells),
                         .neighbours = sk_arena_need(a, MOST_CELLS * sizeof(int))};
    if (!f)
        return false;
    find_sizes(&t);
    while (fgets(line, sizeof line, f)) {
        take_row(&t, line);
        take_shape(line, out);
    }
    fclose(f);
    for (int i = 0; i < out->n; i++)
        out->cells[i].seconds =
            t.seconds[out->cells[i].coll][size_index(&t, sk_report_size(out->cells[i].bytes)) % 16];
    return true;
}
