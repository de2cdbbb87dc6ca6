/* report.h: what a process did: collective x size class x algorithm x calls x time. The cells are
 * plain arrays so that ranks can be merged element by element. */
#ifndef SK_REPORT_H
#define SK_REPORT_H

#include <stdatomic.h>
#include <stdio.h>

#include "base/attr.h"
#include "coll/algo.h"
#include "coll/traffic.h"

struct sk_waits_sum;

typedef struct sk_report sk_report;

typedef enum sk_host_reason { /* why the host MPI served a call */
                              SK_HOST_OFF,
                              SK_HOST_INTER,
                              SK_HOST_ARGS,
                              SK_HOST_NOFIT,
                              SK_HOST_SAME,
                              SK_HOST_EARLY,
                              SK_HOST_DEVICE,
                              SK_HOST_FOREIGN,
                              SK_HOST_BITS,
                              SK_HOST_FORTRAN,
                              SK_HOST_MEMORY,
                              SK_HOST_FASTER,
                              SK_HOST_TUNED,
                              SK_NHOST_REASONS
} sk_host_reason;

/* NULL: out of memory. If `fd` is not NULL, the cells are in memory that other processes can read
 * through *fd, which the caller closes; -1: that failed, and they are not. */
sk_report *sk_report_new(int *fd);
void sk_report_free(sk_report *r);

/* Safe from several threads at once, and cheap: these stand on the way of every call. */

/* Calls served by an algorithm (sk_algo_index) with so many bytes, or a few more or less. */
typedef struct sk_report_counter {
    _Atomic int64_t calls, ns;
} sk_report_counter;
sk_report_counter *sk_report_counter_of(sk_report *r, int algo, int64_t bytes);

static inline void sk_report_counter_add(sk_report_counter *t, double seconds)
{
    atomic_fetch_add_explicit(&t->calls, 1, memory_order_relaxed);
    if (seconds > 0)
        atomic_fetch_add_explicit(&t->ns, (int64_t)(seconds * 1e9), memory_order_relaxed);
}

/* The same where no other thread counts meanwhile. A locked instruction would wait until the flags that this
 * core has just set have reached the others. */
static inline void sk_report_counter_add_alone(sk_report_counter *t, double seconds)
{
    atomic_store_explicit(&t->calls, atomic_load_explicit(&t->calls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (seconds > 0)
        atomic_fetch_add_explicit(&t->ns, (int64_t)(seconds * 1e9), memory_order_relaxed);
}

/* Calls that the host served, with so many bytes, or a few more or less; -1: not known. */
sk_report_counter *sk_report_host_counter(sk_report *r, sk_coll coll, sk_host_reason why,
                                          int64_t bytes);

/* The counters of size 0 by hand, where instructions count: of collective and reason, at the index
 * (coll * SK_NHOST_REASONS + why) * SK_NSIZES behind the first one. */
enum { SK_NSIZES = 9 };
void sk_report_plans(sk_report *r, int64_t built, int64_t evicted);

/* What a call sent to other nodes, once these are known; packets count as messages only. */
void sk_report_off_node(sk_report *r, int64_t messages, int64_t bytes);

/* With a report only: what a call sent, inside and between nodes, and read from the memory of local ranks. */
void sk_report_traffic(sk_report *r, const sk_sent *x);

/* A call with a count for each rank was planned: its blocks, and those that are not empty. */
void sk_report_blocks(sk_report *r, int64_t blocks, int64_t filled);

/* A call from one time to another, in ns since the start, for the timeline (timeline.h); and the end of the run. One
 * thread at a time. */
void sk_report_span(sk_report *r, sk_coll coll, int64_t from, int64_t until);
void sk_report_run_ends(sk_report *r, int64_t ns);

/* The queues of the libfabric provider: longest, 1000 times the mean length, searches and items compared, of the
 * posted one and then of the unexpected one. */
enum { SK_NMATCH_COUNTS = 8 };
void sk_report_matching(sk_report *r, const int64_t counts[SK_NMATCH_COUNTS]);

/* Patterns of a neighbourhood were made: the time it took, the messages this rank sent for it,
 * those a call on the busiest rank will save from now on, and the calls after which that pays by
 * the prices (0: never). */
void sk_report_setup(sk_report *r, double seconds, int64_t messages, int64_t saved,
                     int64_t breakeven);

/* A comparison of Skein with the host has ended: ns per call, and who serves from now on. To be counted by one
 * rank of those that took part. */
typedef struct sk_report_outcome {
    bool host_won;
    int64_t skein_ns, host_ns;
} sk_report_outcome;
void sk_report_comparison(sk_report *r, sk_coll coll, int64_t bytes, const sk_report_outcome *x);

/* All calls of a collective and size class. */
typedef struct sk_report_compared {
    int64_t times, skein_ns, host_ns; /* how many comparisons, and the sums of what they found */
} sk_report_compared;
typedef struct sk_report_cell {
    const char *coll, *size;
    int64_t calls;                /* served by Skein */
    double seconds, host_seconds; /* in calls served by Skein, and by the host */
    sk_report_compared skein_won, host_won;
} sk_report_cell;
enum {
    SK_NREPORT_CELLS = SK_NCOLLS * SK_NSIZES
}; /* the sizes of the first collective, then of the next */
void sk_report_cells(const sk_report *r, sk_report_cell cells[SK_NREPORT_CELLS]);

/* How rows name the size. */
const char *sk_report_size(int64_t bytes);

/* Totals: "served", "host", "plans_built", "evicted", "setups", "setup_messages",
 * "off_node_messages", "off_node_bytes"; false when there is no such name. */
bool sk_report_total(const sk_report *r, const char *name, long long *value);

/* The cells, for merging: read, merge, write back. Of the first ones the largest over ranks is taken, the others
 * (comparisons, what was sent, the timeline) are added up; all of them start at 0. Timelines are added up only if
 * they are of the same width, so the narrower ones are widened first. */
int sk_report_ncells(const sk_report *r);
int sk_report_nlargest(const sk_report *r);
int64_t sk_report_width(const sk_report *r, const int64_t *cells);
void sk_report_widen(const sk_report *r, int64_t *cells, int64_t width);
void sk_report_merge(const sk_report *r, int64_t *into, int64_t *cells); /* widens both */
void sk_report_read(const sk_report *r, int64_t *cells);
void sk_report_write(sk_report *r, const int64_t *cells);
uint64_t sk_report_layout(const sk_report *r); /* equal layouts: the same cells */

/* Of the JSON: skein(1) describes it. The number changes if a reader of the last one could misread it. */
enum { SK_REPORT_VERSION = 1 };

/* What the counts are of. */
typedef struct sk_report_scope {
    int nranks;      /* of the job; 0: not known */
    int counted;     /* ranks whose counts these are */
    const char *end; /* how the job ended; NULL: by MPI_Finalize, and all ranks are counted */
    const char
        *copy; /* the prices of copies on a node, as SKEIN_COPY takes them; NULL: not known */
    const char *network; /* its latency and rate, as SKEIN_MODEL takes them; NULL: not known */
    const char *shapes;  /* of calls: elements of a JSON array; NULL: not known */
    int cores;           /* of a node, see sk_machine; 0: not known */
    int nnodes;          /* 0: not known */
    const char *mpi, *program;        /* NULL: not known */
    const char *engine;               /* of matching */
    const struct sk_waits_sum *waits; /* of communicators and waiting; NULL: not known */
} sk_report_scope;

/* To a file as JSON, or as a table on standard error: that is "1", and what happens, with SK_BADARG,
 * if the file cannot be written. */
sk_status sk_report_save(const sk_report *r, const sk_report_scope *of, const char *where);

void sk_report_table(const sk_report *r, const sk_report_scope *of, FILE *out);
void sk_report_json(const sk_report *r, const sk_report_scope *of, FILE *out);

#endif
