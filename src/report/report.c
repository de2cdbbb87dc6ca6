/* report.c: count, and show the counts as a table or as JSON. */
#include "report/report.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NCLASSES = 8 };

static const struct {
    int64_t most; /* bytes */
    const char *label;
} size_class[NCLASSES] = {
    {0, "0 B"},          {64, "<= 64 B"},       {512, "<= 512 B"},    {4096, "<= 4 KB"},
    {32768, "<= 32 KB"}, {262144, "<= 256 KB"}, {2097152, "<= 2 MB"}, {INT64_MAX, "> 2 MB"},
};

static const char *const reason_text[SK_NHOST_REASONS] = {
    [SK_HOST_OFF] = "switched off",
    [SK_HOST_INTER] = "intercommunicator",
    [SK_HOST_ARGS] = "arguments left to the host",
    [SK_HOST_NOFIT] = "no algorithm fits",
};

/* Cells: calls and seconds of every (algorithm, class), calls of every (collective, reason), then
 * plans built and evicted. */
struct sk_report {
    pthread_mutex_t lock;
    int nalgos, ncells;
    double *cell;
};

static int served_at(int algo, int cls)
{
    return 2 * (algo * NCLASSES + cls);
}

static int host_at(const sk_report *r, int coll, int reason)
{
    return served_at(r->nalgos, 0) + coll * SK_NHOST_REASONS + reason;
}

static int plans_at(const sk_report *r)
{
    return host_at(r, SK_NCOLLS, 0);
}

sk_report *sk_report_new(void)
{
    sk_report *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    while (sk_algos()[r->nalgos])
        r->nalgos++;
    r->ncells = plans_at(r) + 2;
    r->cell = calloc((size_t)r->ncells, sizeof *r->cell);
    if (!r->cell || pthread_mutex_init(&r->lock, NULL) != 0) {
        free(r->cell);
        free(r);
        return NULL;
    }
    return r;
}

void sk_report_free(sk_report *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    free(r->cell);
    free(r);
}

static void add(sk_report *r, int at, double a, int at2, double b)
{
    pthread_mutex_lock(&r->lock);
    r->cell[at] += a;
    r->cell[at2] += b;
    pthread_mutex_unlock(&r->lock);
}

void sk_report_served(sk_report *r, int algo, int64_t bytes, double seconds)
{
    int cls = 0;
    while (bytes > size_class[cls].most)
        cls++;
    int at = served_at(algo, cls);
    add(r, at, 1, at + 1, seconds);
}

void sk_report_host(sk_report *r, sk_coll coll, sk_host_reason why)
{
    int at = host_at(r, (int)coll, (int)why);
    add(r, at, 1, at, 0);
}

void sk_report_plans(sk_report *r, int64_t built, int64_t evicted)
{
    int at = plans_at(r);
    add(r, at, (double)built, at + 1, (double)evicted);
}

bool sk_report_total(const sk_report *r, const char *name, long long *value)
{
    double sum = 0;
    if (strcmp(name, "served") == 0)
        for (int i = 0; i < served_at(r->nalgos, 0); i += 2)
            sum += r->cell[i];
    else if (strcmp(name, "host") == 0)
        for (int i = host_at(r, 0, 0); i < plans_at(r); i++)
            sum += r->cell[i];
    else if (strcmp(name, "plans_built") == 0)
        sum = r->cell[plans_at(r)];
    else if (strcmp(name, "evicted") == 0)
        sum = r->cell[plans_at(r) + 1];
    else
        return false;
    *value = (long long)sum;
    return true;
}

double *sk_report_cells(sk_report *r, int *n)
{
    *n = r->ncells;
    return r->cell;
}

/* One visit per cell that was used, in the order of collectives. `algo` is NULL for the host's. */
typedef void visit_fn(void *state, const char *coll, const char *size, const char *algo,
                      const char *reason, double calls, double seconds);

static void visit(const sk_report *r, visit_fn *fn, void *state)
{
    for (int coll = 0; coll < SK_NCOLLS; coll++) {
        const char *name = sk_coll_name((sk_coll)coll);
        for (int cls = 0; cls < NCLASSES; cls++)
            for (int a = 0; a < r->nalgos; a++) {
                const double *cell = &r->cell[served_at(a, cls)];
                if ((int)sk_algos()[a]->coll == coll && cell[0] > 0)
                    fn(state, name, size_class[cls].label, sk_algos()[a]->name, NULL, cell[0],
                       cell[1]);
            }
        for (int why = 0; why < SK_NHOST_REASONS; why++) {
            double calls = r->cell[host_at(r, coll, why)];
            if (calls > 0)
                fn(state, name, NULL, NULL, reason_text[why], calls, 0);
        }
    }
}

static void table_row(void *out, const char *coll, const char *size, const char *algo,
                      const char *reason, double calls, double seconds)
{
    if (algo)
        fprintf(out, "skein: %-20s %-10s %-18s %12.0f %12.3f\n", coll, size, algo, calls,
                seconds * 1e3);
    else
        fprintf(out, "skein: %-20s %-10s %-18s %12.0f   host MPI: %s\n", coll, "", "-", calls,
                reason);
}

void sk_report_table(const sk_report *r, int nranks, FILE *out)
{
    fprintf(out, "skein: report, %d ranks (calls and time: largest over ranks)\n", nranks);
    fprintf(out, "skein: %-20s %-10s %-18s %12s %12s\n", "collective", "size", "algorithm", "calls",
            "time ms");
    visit(r, table_row, out);
    fprintf(out, "skein: plans built %.0f, evicted %.0f\n", r->cell[plans_at(r)],
            r->cell[plans_at(r) + 1]);
}

struct json {
    FILE *out;
    bool more;
};

static void json_row(void *state, const char *coll, const char *size, const char *algo,
                     const char *reason, double calls, double seconds)
{
    struct json *j = state;
    fprintf(j->out, "%s\n    {\"collective\": \"%s\", ", j->more ? "," : "", coll);
    if (algo)
        fprintf(j->out,
                "\"size\": \"%s\", \"algorithm\": \"%s\", \"calls\": %.0f, \"seconds\": %.9f}",
                size, algo, calls, seconds);
    else
        fprintf(j->out, "\"host\": \"%s\", \"calls\": %.0f}", reason, calls);
    j->more = true;
}

void sk_report_json(const sk_report *r, int nranks, FILE *out)
{
    struct json j = {.out = out};
    fprintf(out, "{\n  \"ranks\": %d,\n  \"rows\": [", nranks);
    visit(r, json_row, &j);
    fprintf(out, "\n  ],\n  \"plans_built\": %.0f,\n  \"plans_evicted\": %.0f\n}\n",
            r->cell[plans_at(r)], r->cell[plans_at(r) + 1]);
}
