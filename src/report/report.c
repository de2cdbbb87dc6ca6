/* report.c: count, and show the counts as a table or as JSON. */
#include "report/report.h"

#include <inttypes.h>
#include <stdatomic.h>
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
    [SK_HOST_SAME] = "direct is best, and the host does it",
    [SK_HOST_EARLY] = "nonblocking, before any blocking one",
};

/* Cells: calls and nanoseconds of every (algorithm, class), calls of every (collective, reason),
 * then plans built and evicted, then what set-ups of neighbourhoods did, then what left the node.
 */
struct sk_report {
    int nalgos, ncells;
    _Atomic int64_t *cell;
};

_Static_assert(sizeof(sk_report_counter) == 2 * sizeof(_Atomic int64_t), "a counter is two cells");

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

enum { SETUPS, SETUP_NS, SETUP_MESSAGES, SETUP_SAVED, SETUP_BREAKEVEN, NSETUP };

static int setup_at(const sk_report *r)
{
    return plans_at(r) + 2;
}

static int off_node_at(const sk_report *r) /* messages, then bytes */
{
    return setup_at(r) + NSETUP;
}

sk_report *sk_report_new(void)
{
    sk_report *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    while (sk_algos()[r->nalgos])
        r->nalgos++;
    r->ncells = off_node_at(r) + 2;
    r->cell = calloc((size_t)r->ncells, sizeof *r->cell);
    if (!r->cell) {
        free(r);
        return NULL;
    }
    return r;
}

void sk_report_free(sk_report *r)
{
    if (!r)
        return;
    free(r->cell);
    free(r);
}

static void add(sk_report *r, int at, int64_t n)
{
    atomic_fetch_add_explicit(&r->cell[at], n, memory_order_relaxed);
}

static int64_t get(const sk_report *r, int at)
{
    return atomic_load_explicit(&r->cell[at], memory_order_relaxed);
}

sk_report_counter *sk_report_counter_of(sk_report *r, int algo, int64_t bytes)
{
    int cls = 0;
    while (bytes > size_class[cls].most)
        cls++;
    return (sk_report_counter *)&r->cell[served_at(algo, cls)];
}

void sk_report_host(sk_report *r, sk_coll coll, sk_host_reason why)
{
    add(r, host_at(r, (int)coll, (int)why), 1);
}

void sk_report_plans(sk_report *r, int64_t built, int64_t evicted)
{
    add(r, plans_at(r), built);
    add(r, plans_at(r) + 1, evicted);
}

void sk_report_off_node(sk_report *r, int64_t messages, int64_t bytes)
{
    add(r, off_node_at(r), messages);
    add(r, off_node_at(r) + 1, bytes);
}

static void raise_to(sk_report *r, int at, int64_t n)
{
    int64_t was = get(r, at);
    while (was < n && !atomic_compare_exchange_weak(&r->cell[at], &was, n))
        ;
}

void sk_report_setup(sk_report *r, double seconds, int64_t messages, int64_t saved,
                     int64_t breakeven)
{
    int at = setup_at(r);
    add(r, at + SETUPS, 1);
    add(r, at + SETUP_NS, (int64_t)(seconds * 1e9));
    add(r, at + SETUP_MESSAGES, messages);
    raise_to(r, at + SETUP_SAVED, saved);
    raise_to(r, at + SETUP_BREAKEVEN, breakeven);
}

bool sk_report_total(const sk_report *r, const char *name, long long *value)
{
    int64_t sum = 0;
    if (strcmp(name, "served") == 0)
        for (int i = 0; i < served_at(r->nalgos, 0); i += 2)
            sum += get(r, i);
    else if (strcmp(name, "host") == 0)
        for (int i = host_at(r, 0, 0); i < plans_at(r); i++)
            sum += get(r, i);
    else if (strcmp(name, "plans_built") == 0)
        sum = get(r, plans_at(r));
    else if (strcmp(name, "evicted") == 0)
        sum = get(r, plans_at(r) + 1);
    else if (strcmp(name, "setups") == 0)
        sum = get(r, setup_at(r) + SETUPS);
    else if (strcmp(name, "setup_messages") == 0)
        sum = get(r, setup_at(r) + SETUP_MESSAGES);
    else if (strcmp(name, "off_node_messages") == 0)
        sum = get(r, off_node_at(r));
    else if (strcmp(name, "off_node_bytes") == 0)
        sum = get(r, off_node_at(r) + 1);
    else
        return false;
    *value = sum;
    return true;
}

int sk_report_ncells(const sk_report *r)
{
    return r->ncells;
}

void sk_report_read(const sk_report *r, int64_t *cells)
{
    for (int i = 0; i < r->ncells; i++)
        cells[i] = get(r, i);
}

void sk_report_write(sk_report *r, const int64_t *cells)
{
    for (int i = 0; i < r->ncells; i++)
        atomic_store_explicit(&r->cell[i], cells[i], memory_order_relaxed);
}

/* One visit per cell that was used, in the order of collectives. `algo` is NULL for the host's. */
typedef void visit_fn(void *state, const char *coll, const char *size, const char *algo,
                      const char *reason, int64_t calls, double seconds);

static void visit(const sk_report *r, visit_fn *fn, void *state)
{
    for (int coll = 0; coll < SK_NCOLLS; coll++) {
        const char *name = sk_coll_name((sk_coll)coll);
        for (int cls = 0; cls < NCLASSES; cls++)
            for (int a = 0; a < r->nalgos; a++) {
                int64_t calls = get(r, served_at(a, cls));
                if ((int)sk_algos()[a]->coll == coll && calls > 0)
                    fn(state, name, size_class[cls].label, sk_algos()[a]->name, NULL, calls,
                       1e-9 * (double)get(r, served_at(a, cls) + 1));
            }
        for (int why = 0; why < SK_NHOST_REASONS; why++) {
            int64_t calls = get(r, host_at(r, coll, why));
            if (calls > 0)
                fn(state, name, NULL, NULL, reason_text[why], calls, 0);
        }
    }
}

static void table_row(void *out, const char *coll, const char *size, const char *algo,
                      const char *reason, int64_t calls, double seconds)
{
    if (algo)
        fprintf(out, "skein: %-20s %-10s %-18s %12" PRId64 " %12.3f\n", coll, size, algo, calls,
                seconds * 1e3);
    else
        fprintf(out, "skein: %-20s %-10s %-18s %12" PRId64 "   host MPI: %s\n", coll, "", "-",
                calls, reason);
}

void sk_report_table(const sk_report *r, int nranks, FILE *out)
{
    fprintf(out, "skein: report, %d ranks (calls and time: largest over ranks)\n", nranks);
    fprintf(out, "skein: %-20s %-10s %-18s %12s %12s\n", "collective", "size", "algorithm", "calls",
            "time ms");
    visit(r, table_row, out);
    fprintf(out, "skein: plans built %" PRId64 ", evicted %" PRId64 "\n", get(r, plans_at(r)),
            get(r, plans_at(r) + 1));
    if (get(r, off_node_at(r)))
        fprintf(out,
                "skein: sent to other nodes by the busiest rank: %" PRId64 " messages, %" PRId64
                " bytes\n",
                get(r, off_node_at(r)), get(r, off_node_at(r) + 1));
    int at = setup_at(r);
    if (get(r, at + SETUPS))
        fprintf(out,
                "skein: neighbourhood set-ups %" PRId64 " in %.3f ms, %" PRId64
                " messages; a call saves up to %" PRId64 " messages per rank, pays after %" PRId64
                " calls\n",
                get(r, at + SETUPS), 1e-6 * (double)get(r, at + SETUP_NS),
                get(r, at + SETUP_MESSAGES), get(r, at + SETUP_SAVED),
                get(r, at + SETUP_BREAKEVEN));
}

struct json {
    FILE *out;
    bool more;
};

static void json_row(void *state, const char *coll, const char *size, const char *algo,
                     const char *reason, int64_t calls, double seconds)
{
    struct json *j = state;
    fprintf(j->out, "%s\n    {\"collective\": \"%s\", ", j->more ? "," : "", coll);
    if (algo)
        fprintf(j->out,
                "\"size\": \"%s\", \"algorithm\": \"%s\", \"calls\": %" PRId64
                ", \"seconds\": %.9f}",
                size, algo, calls, seconds);
    else
        fprintf(j->out, "\"host\": \"%s\", \"calls\": %" PRId64 "}", reason, calls);
    j->more = true;
}

void sk_report_json(const sk_report *r, int nranks, FILE *out)
{
    struct json j = {.out = out};
    fprintf(out, "{\n  \"ranks\": %d,\n  \"rows\": [", nranks);
    visit(r, json_row, &j);
    fprintf(out, "\n  ],\n  \"plans_built\": %" PRId64 ",\n  \"plans_evicted\": %" PRId64,
            get(r, plans_at(r)), get(r, plans_at(r) + 1));
    fprintf(out, ",\n  \"off_node_messages\": %" PRId64 ",\n  \"off_node_bytes\": %" PRId64,
            get(r, off_node_at(r)), get(r, off_node_at(r) + 1));
    int at = setup_at(r);
    fprintf(
        out,
        ",\n  \"setups\": %" PRId64 ",\n  \"setup_seconds\": %.9f,\n  \"setup_messages\": %" PRId64
        ",\n  \"messages_saved_per_call\": %" PRId64 ",\n  \"breakeven_calls\": %" PRId64 "\n}\n",
        get(r, at + SETUPS), 1e-9 * (double)get(r, at + SETUP_NS), get(r, at + SETUP_MESSAGES),
        get(r, at + SETUP_SAVED), get(r, at + SETUP_BREAKEVEN));
}
