/* report.c: count. */
#include "report/report_inner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { UNKNOWN = SK_NSIZES - 1 };

static const struct {
    int64_t most; /* bytes */
    const char *label;
} size_class[SK_NSIZES] = {
    {0, "0 B"},           {64, "<= 64 B"},       {512, "<= 512 B"},
    {4096, "<= 4 KB"},    {32768, "<= 32 KB"},   {262144, "<= 256 KB"},
    {2097152, "<= 2 MB"}, {INT64_MAX, "> 2 MB"}, [UNKNOWN] = {INT64_MAX, "unknown"},
};

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
    r->ncells = sk_timeline_at(r) + SK_TIMELINE_CELLS;
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

static int class_of(int64_t bytes)
{
    int cls = bytes < 0 ? UNKNOWN : 0;
    while (bytes > size_class[cls].most)
        cls++;
    return cls;
}

const char *sk_report_size_name(int size)
{
    return size_class[size].label;
}

const char *sk_report_size(int64_t bytes)
{
    return size_class[class_of(bytes)].label;
}

sk_report_counter *sk_report_counter_of(sk_report *r, int algo, int64_t bytes)
{
    return (sk_report_counter *)&r->cell[sk_served_at(algo, class_of(bytes))];
}

sk_report_counter *sk_report_host_counter(sk_report *r, sk_coll coll, sk_host_reason why,
                                          int64_t bytes)
{
    return (sk_report_counter *)&r->cell[sk_host_at(r, (int)coll, (int)why, class_of(bytes))];
}

void sk_report_plans(sk_report *r, int64_t built, int64_t evicted)
{
    add(r, sk_plans_at(r), built);
    add(r, sk_plans_at(r) + 1, evicted);
}

void sk_report_off_node(sk_report *r, int64_t messages, int64_t bytes)
{
    add(r, sk_off_node_at(r), messages);
    add(r, sk_off_node_at(r) + 1, bytes);
}

void sk_report_traffic(sk_report *r, const sk_sent *x)
{
    const int64_t cell[NSENT] = {x->off.messages, x->off.bytes, x->near.messages, x->near.bytes,
                                 x->shared_bytes};
    for (int i = 0; i < NSENT; i++)
        if (cell[i])
            add(r, sk_traffic_at(r) + i, cell[i]);
}

void sk_report_blocks(sk_report *r, int64_t blocks, int64_t filled)
{
    add(r, sk_traffic_at(r) + BLOCKS, blocks);
    add(r, sk_traffic_at(r) + FILLED, filled);
}

void sk_report_span(sk_report *r, sk_coll coll, int64_t from, int64_t until)
{
    sk_timeline_add(&r->cell[sk_run_at(r) + RUN_WIDTH], &r->cell[sk_timeline_at(r)], coll, from,
                    until);
    atomic_store_explicit(&r->cell[sk_run_at(r) + RUN_NS], until, memory_order_relaxed);
}

void sk_report_run_ends(sk_report *r, int64_t ns)
{
    atomic_store_explicit(&r->cell[sk_run_at(r) + RUN_NS], ns, memory_order_relaxed);
}

void sk_report_matching(sk_report *r, const int64_t counts[SK_NMATCH_COUNTS])
{
    for (int i = 0; i < SK_NMATCH_COUNTS; i++)
        atomic_store_explicit(&r->cell[sk_match_at(r) + i], counts[i], memory_order_relaxed);
    atomic_store_explicit(&r->cell[sk_match_at(r) + MATCH_RAN], 1, memory_order_relaxed);
}

static void raise_to(sk_report *r, int at, int64_t n)
{
    int64_t was = sk_report_get(r, at);
    while (was < n && !atomic_compare_exchange_weak(&r->cell[at], &was, n))
        ;
}

void sk_report_setup(sk_report *r, double seconds, int64_t messages, int64_t saved,
                     int64_t breakeven)
{
    int at = sk_setup_at(r);
    add(r, at + SETUPS, 1);
    add(r, at + SETUP_NS, (int64_t)(seconds * 1e9));
    add(r, at + SETUP_MESSAGES, messages);
    raise_to(r, at + SETUP_SAVED, saved);
    raise_to(r, at + SETUP_BREAKEVEN, breakeven);
}

void sk_report_comparison(sk_report *r, sk_coll coll, int64_t bytes, const sk_report_outcome *x)
{
    int at = sk_compared_at(r, (int)coll, class_of(bytes), x->host_won);
    add(r, at + TIMES, 1);
    add(r, at + SKEIN_NS, x->skein_ns);
    add(r, at + HOST_NS, x->host_ns);
}

static sk_report_compared compared(const sk_report *r, int at)
{
    return (sk_report_compared){sk_report_get(r, at + TIMES), sk_report_get(r, at + SKEIN_NS),
                                sk_report_get(r, at + HOST_NS)};
}

static sk_report_cell cell_of(const sk_report *r, sk_coll coll, int size)
{
    sk_report_cell c = {.coll = sk_coll_name(coll), .size = size_class[size].label};
    for (int a = 0; a < r->nalgos; a++)
        if (sk_algos()[a]->coll == coll) {
            c.calls += sk_report_get(r, sk_served_at(a, size));
            c.seconds += 1e-9 * (double)sk_report_get(r, sk_served_at(a, size) + 1);
        }
    for (int why = 0; why < SK_NHOST_REASONS; why++)
        c.host_seconds += 1e-9 * (double)sk_report_get(r, sk_host_at(r, (int)coll, why, size) + 1);
    c.skein_won = compared(r, sk_compared_at(r, (int)coll, size, false));
    c.host_won = compared(r, sk_compared_at(r, (int)coll, size, true));
    return c;
}

void sk_report_cells(const sk_report *r, sk_report_cell cells[SK_NREPORT_CELLS])
{
    for (int i = 0; i < SK_NREPORT_CELLS; i++)
        cells[i] = cell_of(r, (sk_coll)(i / SK_NSIZES), i % SK_NSIZES);
}

/* Of "bcast:shm" or "bcast:host"; -1: there is no such name. */
static int64_t served_by(const sk_report *r, const char *name)
{
    const char *algo = strchr(name, ':');
    char coll[32];
    if (!algo || algo - name >= (int)sizeof coll)
        return -1;
    snprintf(coll, sizeof coll, "%.*s", (int)(algo++ - name), name);
    int c = (int)sk_coll_find(coll), from = -1, to = -1;
    for (int a = 0; a < r->nalgos; a++)
        if ((int)sk_algos()[a]->coll == c && strcmp(sk_algos()[a]->name, algo) == 0) {
            from = sk_served_at(a, 0);
            to = sk_served_at(a + 1, 0);
        }
    if (c < SK_NCOLLS && strcmp(algo, "host") == 0) {
        from = sk_host_at(r, c, 0, 0);
        to = sk_host_at(r, c + 1, 0, 0);
    }
    int64_t sum = from < 0 ? -1 : 0;
    for (int i = from; i < to; i += 2)
        sum += sk_report_get(r, i);
    return sum;
}

bool sk_report_total(const sk_report *r, const char *name, long long *value)
{
    int64_t sum = 0;
    if (strcmp(name, "served") == 0)
        for (int i = 0; i < sk_served_at(r->nalgos, 0); i += 2)
            sum += sk_report_get(r, i);
    else if (strcmp(name, "host") == 0)
        for (int i = sk_host_at(r, 0, 0, 0); i < sk_plans_at(r); i += 2)
            sum += sk_report_get(r, i);
    else if (strcmp(name, "plans_built") == 0)
        sum = sk_report_get(r, sk_plans_at(r));
    else if (strcmp(name, "evicted") == 0)
        sum = sk_report_get(r, sk_plans_at(r) + 1);
    else if (strcmp(name, "setups") == 0)
        sum = sk_report_get(r, sk_setup_at(r) + SETUPS);
    else if (strcmp(name, "setup_messages") == 0)
        sum = sk_report_get(r, sk_setup_at(r) + SETUP_MESSAGES);
    else if (strcmp(name, "off_node_messages") == 0)
        sum = sk_report_get(r, sk_off_node_at(r));
    else if (strcmp(name, "off_node_bytes") == 0)
        sum = sk_report_get(r, sk_off_node_at(r) + 1);
    else
        sum = served_by(r, name);
    if (sum < 0)
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
    return sk_compared_at(r, 0, 0, false);
}

int64_t sk_report_width(const sk_report *r, const int64_t *cells)
{
    return cells[sk_run_at(r) + RUN_WIDTH];
}

void sk_report_widen(const sk_report *r, int64_t *cells, int64_t width)
{
    int64_t *mine = &cells[sk_run_at(r) + RUN_WIDTH];
    if (*mine < 0 || *mine >= width)
        return;
    sk_timeline_widen(&cells[sk_timeline_at(r)], *mine, width);
    *mine = width;
}

void sk_report_merge(const sk_report *r, int64_t *into, int64_t *cells)
{
    sk_report_widen(r, into, sk_report_width(r, cells));
    sk_report_widen(r, cells, sk_report_width(r, into));
    int largest = sk_report_nlargest(r);
    for (int i = 0; i < largest; i++)
        into[i] = cells[i] > into[i] ? cells[i] : into[i];
    for (int i = largest; i < r->ncells; i++)
        into[i] += cells[i];
}

void sk_report_read(const sk_report *r, int64_t *cells)
{
    for (int i = 0; i < r->ncells; i++)
        cells[i] = sk_report_get(r, i);
}

void sk_report_write(sk_report *r, const int64_t *cells)
{
    for (int i = 0; i < r->ncells; i++)
        atomic_store_explicit(&r->cell[i], cells[i], memory_order_relaxed);
}
