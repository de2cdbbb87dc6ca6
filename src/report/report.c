/* report.c: count, and show the counts as a table or as JSON. */
#include "report/report.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/value.h"

enum { NCLASSES = SK_NSIZES, UNKNOWN = NCLASSES - 1 };

static const struct {
    int64_t most; /* bytes */
    const char *label;
} size_class[NCLASSES] = {
    {0, "0 B"},           {64, "<= 64 B"},       {512, "<= 512 B"},
    {4096, "<= 4 KB"},    {32768, "<= 32 KB"},   {262144, "<= 256 KB"},
    {2097152, "<= 2 MB"}, {INT64_MAX, "> 2 MB"}, [UNKNOWN] = {INT64_MAX, "unknown"},
};

static const char *const reason_text[SK_NHOST_REASONS] = {
    [SK_HOST_OFF] = "switched off",
    [SK_HOST_INTER] = "intercommunicator",
    [SK_HOST_ARGS] = "arguments left to the host",
    [SK_HOST_NOFIT] = "no algorithm fits",
    [SK_HOST_SAME] = "direct is best, and the host does it",
    [SK_HOST_DEVICE] = "GPU memory, or nonblocking where it is possible",
    [SK_HOST_EARLY] = "first calls on a communicator",
    [SK_HOST_FOREIGN] = "ranks outside MPI_COMM_WORLD",
    [SK_HOST_BITS] = "the host did the first ones: same bits",
    [SK_HOST_FORTRAN] = "its Fortran library uses the request",
    [SK_HOST_MEMORY] = "no shared memory is left",
    [SK_HOST_FASTER] = "faster here, or tried",
    [SK_HOST_TUNED] = "faster by the tuning file, or tried",
};

/* Cells: calls and nanoseconds of every (algorithm, class) and every (collective, reason, class),
 * then plans built and evicted, then what set-ups of neighbourhoods did, then what left the node,
 * then comparisons of every (collective, class, winner). */
struct sk_report {
    int nalgos, ncells;
    bool shared; /* the cells are mapped, not allocated */
    _Atomic int64_t *cell;
};

_Static_assert(sizeof(sk_report_counter) == 2 * sizeof(_Atomic int64_t), "a counter is two cells");

static int served_at(int algo, int cls)
{
    return 2 * (algo * NCLASSES + cls);
}

static int host_at(const sk_report *r, int coll, int reason, int cls)
{
    return served_at(r->nalgos, 0) + 2 * ((coll * SK_NHOST_REASONS + reason) * NCLASSES + cls);
}

static int plans_at(const sk_report *r)
{
    return host_at(r, SK_NCOLLS, 0, 0);
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

enum { TIMES, SKEIN_NS, HOST_NS, NCOMPARED };

static int compared_at(const sk_report *r, int coll, int cls, bool host_won)
{
    return off_node_at(r) + 2 + NCOMPARED * (2 * (coll * NCLASSES + cls) + host_won);
}

static size_t cells_bytes(const sk_report *r)
{
    return (size_t)r->ncells * sizeof *r->cell;
}

/* Cells that other processes can read; NULL: that is not possible. */
static void *share_cells(const sk_report *r, int *fd)
{
    void *cells = MAP_FAILED;
    *fd = memfd_create("skein-report", MFD_CLOEXEC);
    if (*fd >= 0 && ftruncate(*fd, (off_t)cells_bytes(r)) == 0)
        cells = mmap(NULL, cells_bytes(r), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (cells != MAP_FAILED)
        return cells;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return NULL;
}

sk_report *sk_report_new(int *fd)
{
    sk_report *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    while (sk_algos()[r->nalgos])
        r->nalgos++;
    r->ncells = compared_at(r, SK_NCOLLS, 0, false);
    r->cell = fd ? share_cells(r, fd) : NULL;
    r->shared = r->cell != NULL;
    if (!r->cell)
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
    if (r->shared)
        munmap(r->cell, cells_bytes(r));
    else
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

static int class_of(int64_t bytes)
{
    int cls = bytes < 0 ? UNKNOWN : 0;
    while (bytes > size_class[cls].most)
        cls++;
    return cls;
}

const char *sk_report_size(int64_t bytes)
{
    return size_class[class_of(bytes)].label;
}

sk_report_counter *sk_report_counter_of(sk_report *r, int algo, int64_t bytes)
{
    return (sk_report_counter *)&r->cell[served_at(algo, class_of(bytes))];
}

sk_report_counter *sk_report_host_counter(sk_report *r, sk_coll coll, sk_host_reason why,
                                          int64_t bytes)
{
    return (sk_report_counter *)&r->cell[host_at(r, (int)coll, (int)why, class_of(bytes))];
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

void sk_report_comparison(sk_report *r, sk_coll coll, int64_t bytes, const sk_report_outcome *x)
{
    int at = compared_at(r, (int)coll, class_of(bytes), x->host_won);
    add(r, at + TIMES, 1);
    add(r, at + SKEIN_NS, x->skein_ns);
    add(r, at + HOST_NS, x->host_ns);
}

static sk_report_compared compared(const sk_report *r, int at)
{
    return (sk_report_compared){get(r, at + TIMES), get(r, at + SKEIN_NS), get(r, at + HOST_NS)};
}

static sk_report_cell cell_of(const sk_report *r, sk_coll coll, int size)
{
    sk_report_cell c = {.coll = sk_coll_name(coll), .size = size_class[size].label};
    for (int a = 0; a < r->nalgos; a++)
        if (sk_algos()[a]->coll == coll) {
            c.calls += get(r, served_at(a, size));
            c.seconds += 1e-9 * (double)get(r, served_at(a, size) + 1);
        }
    for (int why = 0; why < SK_NHOST_REASONS; why++)
        c.host_seconds += 1e-9 * (double)get(r, host_at(r, (int)coll, why, size) + 1);
    c.skein_won = compared(r, compared_at(r, (int)coll, size, false));
    c.host_won = compared(r, compared_at(r, (int)coll, size, true));
    return c;
}

void sk_report_cells(const sk_report *r, sk_report_cell cells[SK_NREPORT_CELLS])
{
    for (int i = 0; i < SK_NREPORT_CELLS; i++)
        cells[i] = cell_of(r, (sk_coll)(i / SK_NSIZES), i % SK_NSIZES);
}

bool sk_report_total(const sk_report *r, const char *name, long long *value)
{
    int64_t sum = 0;
    if (strcmp(name, "served") == 0)
        for (int i = 0; i < served_at(r->nalgos, 0); i += 2)
            sum += get(r, i);
    else if (strcmp(name, "host") == 0)
        for (int i = host_at(r, 0, 0, 0); i < plans_at(r); i += 2)
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

uint64_t sk_report_layout(const sk_report *r)
{
    uint64_t h = 14695981039346656037u ^ (uint64_t)r->ncells;
    for (int a = 0; a < r->nalgos; a++)
        for (const char *c = sk_algos()[a]->name; *c; c++)
            h = (h ^ (unsigned char)*c) * 1099511628211u;
    return h;
}

int sk_report_ncells(const sk_report *r)
{
    return r->ncells;
}

int sk_report_nlargest(const sk_report *r)
{
    return compared_at(r, 0, 0, false);
}

void sk_report_merge(const sk_report *r, int64_t *into, const int64_t *cells)
{
    int largest = sk_report_nlargest(r);
    for (int i = 0; i < largest; i++)
        into[i] = cells[i] > into[i] ? cells[i] : into[i];
    for (int i = largest; i < r->ncells; i++)
        into[i] += cells[i];
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

/* A row for each pair of cells that was used, in the order of collectives. */
typedef struct report_row {
    const char *coll, *size;
    const char *algo;   /* NULL: the host served the calls */
    const char *reason; /* then */
    int64_t calls;
    double seconds;
} report_row;

typedef void visit_fn(void *state, const report_row *row);

static void visit_cells(const sk_report *r, int at, report_row row, visit_fn *fn, void *state)
{
    row.calls = get(r, at);
    row.seconds = 1e-9 * (double)get(r, at + 1);
    if (row.calls > 0)
        fn(state, &row);
}

static void visit(const sk_report *r, visit_fn *fn, void *state)
{
    for (int coll = 0; coll < SK_NCOLLS; coll++) {
        report_row row = {.coll = sk_coll_name((sk_coll)coll)};
        for (int cls = 0; cls < NCLASSES; cls++)
            for (int a = 0; a < r->nalgos; a++) {
                row.size = size_class[cls].label;
                row.algo = sk_algos()[a]->name;
                if ((int)sk_algos()[a]->coll == coll)
                    visit_cells(r, served_at(a, cls), row, fn, state);
            }
        row.algo = NULL;
        for (int why = 0; why < SK_NHOST_REASONS; why++)
            for (int cls = 0; cls < NCLASSES; cls++) {
                row.size = size_class[cls].label;
                row.reason = reason_text[why];
                visit_cells(r, host_at(r, coll, why, cls), row, fn, state);
            }
    }
}

static void table_row(void *out, const report_row *row)
{
    fprintf(out, "skein: %-20s %-10s %-18s %12" PRId64 " %12.3f%s%s\n", row->coll, row->size,
            row->algo ? row->algo : "-", row->calls, row->seconds * 1e3,
            row->algo ? "" : "   host MPI: ", row->algo ? "" : row->reason);
}

/* A cache in which nothing would have been evicted: the next power of two is easy to remember. */
static int64_t cache_for(int64_t built)
{
    int64_t n = 128;
    while (n < built)
        n *= 2;
    return n;
}

static void table_plans(const sk_report *r, FILE *out)
{
    int64_t built = get(r, plans_at(r)), evicted = get(r, plans_at(r) + 1);
    fprintf(out, "skein: plans built %" PRId64 ", evicted %" PRId64, built, evicted);
    if (evicted)
        fprintf(out, "; SKEIN_CACHE=%" PRId64 " would keep all of them", cache_for(built));
    fputc('\n', out);
}

static void table_head(const sk_report_scope *of, FILE *out)
{
    if (!of->end)
        fprintf(out, "skein: report, %d ranks (calls and time: largest over ranks)\n", of->nranks);
    else if (!of->counted)
        fprintf(out, "skein: report without counts: %s\n", of->end);
    else
        fprintf(out, "skein: report of %d of %d ranks: %s\n", of->counted, of->nranks, of->end);
}

void sk_report_table(const sk_report *r, const sk_report_scope *of, FILE *out)
{
    table_head(of, out);
    if (of->end && !of->counted)
        return;
    fprintf(out, "skein: %-20s %-10s %-18s %12s %12s\n", "collective", "size", "algorithm", "calls",
            "time ms");
    visit(r, table_row, out);
    table_plans(r, out);
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
    sk_report_cell cells[SK_NREPORT_CELLS];
    sk_report_cells(r, cells);
    sk_value_table(cells, out);
}

typedef struct json_state {
    FILE *out;
    bool more;
} json_state;

/* A string of JSON, or null. Control characters are left out. */
static void json_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, "\"%s\": ", name);
    if (!text) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, out);
    fputc('"', out);
}

static void json_row(void *state, const report_row *row)
{
    json_state *j = state;
    fprintf(j->out, "%s\n    {", j->more ? "," : "");
    json_text(j->out, "collective", row->coll);
    fputs(", ", j->out);
    json_text(j->out, "size", row->size);
    fputs(", ", j->out);
    json_text(j->out, "algorithm", row->algo);
    fputs(", ", j->out);
    json_text(j->out, "host", row->algo ? NULL : row->reason);
    fprintf(j->out, ", \"calls\": %" PRId64 ", \"seconds\": %.9f}", row->calls, row->seconds);
    j->more = true;
}

void sk_report_json(const sk_report *r, const sk_report_scope *of, FILE *out)
{
    json_state j = {.out = out};
    fprintf(out, "{\n  \"ranks\": %d,\n  \"counted\": %d,\n  ", of->nranks, of->counted);
    json_text(out, "end", of->end ? of->end : "MPI_Finalize");
    fputs(",\n  ", out);
    json_text(out, "copy", of->copy);
    fputs(",\n  \"rows\": [", out);
    visit(r, json_row, &j);
    fprintf(out, "\n  ],\n  \"shapes\": [%s", of->shapes ? of->shapes : "");
    fprintf(out, "\n  ],\n  \"plans_built\": %" PRId64 ",\n  \"plans_evicted\": %" PRId64,
            get(r, plans_at(r)), get(r, plans_at(r) + 1));
    fprintf(out, ",\n  \"off_node_messages\": %" PRId64 ",\n  \"off_node_bytes\": %" PRId64,
            get(r, off_node_at(r)), get(r, off_node_at(r) + 1));
    int at = setup_at(r);
    fprintf(out,
            ",\n  \"setups\": %" PRId64
            ",\n  \"setup_seconds\": %.9f,\n  \"setup_messages\": %" PRId64
            ",\n  \"messages_saved_per_call\": %" PRId64 ",\n  \"breakeven_calls\": %" PRId64 ",\n",
            get(r, at + SETUPS), 1e-9 * (double)get(r, at + SETUP_NS), get(r, at + SETUP_MESSAGES),
            get(r, at + SETUP_SAVED), get(r, at + SETUP_BREAKEVEN));
    sk_report_cell cells[SK_NREPORT_CELLS];
    sk_report_cells(r, cells);
    sk_value_json(cells, out);
    fputs("\n}\n", out);
}

sk_status sk_report_save(const sk_report *r, const sk_report_scope *of, const char *where)
{
    bool table = strcmp(where, "1") == 0;
    FILE *out = table ? NULL : fopen(where, "we");
    if (!out) {
        sk_report_table(r, of, stderr);
        return table ? SK_OK : SK_BADARG;
    }
    sk_report_json(r, of, out);
    return fclose(out) == 0 ? SK_OK : SK_BADARG;
}
