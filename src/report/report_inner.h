/* report_inner.h: the cells of a report, for report.c and show.c. */
#ifndef SK_REPORT_INNER_H
#define SK_REPORT_INNER_H

#include "report/report.h"
#include "report/timeline.h"

/* Cells: calls and nanoseconds of every (algorithm, class) and every (collective, reason, class),
 * then plans built and evicted, then what set-ups of neighbourhoods did, then what left the node,
 * then the run and the matching; then, to be added up over ranks: comparisons of every (collective, class,
 * winner), what calls sent, and the timeline. */
struct sk_report {
    int nalgos, ncells;
    bool shared; /* the cells are mapped, not allocated */
    _Atomic int64_t *cell;
};

_Static_assert(sizeof(sk_report_counter) == 2 * sizeof(_Atomic int64_t), "a counter is two cells");

static inline int sk_served_at(int algo, int cls)
{
    return 2 * (algo * SK_NSIZES + cls);
}

static inline int sk_host_at(const sk_report *r, int coll, int reason, int cls)
{
    return sk_served_at(r->nalgos, 0) + 2 * ((coll * SK_NHOST_REASONS + reason) * SK_NSIZES + cls);
}

static inline int sk_plans_at(const sk_report *r)
{
    return sk_host_at(r, SK_NCOLLS, 0, 0);
}

enum { SETUPS, SETUP_NS, SETUP_MESSAGES, SETUP_SAVED, SETUP_BREAKEVEN, NSETUP };

static inline int sk_setup_at(const sk_report *r)
{
    return sk_plans_at(r) + 2;
}

static inline int sk_off_node_at(const sk_report *r) /* messages, then bytes */
{
    return sk_setup_at(r) + NSETUP;
}

enum { RUN_WIDTH, RUN_NS, NRUN };

static inline int sk_run_at(const sk_report *r)
{
    return sk_off_node_at(r) + 2;
}

enum { MATCH_RAN = SK_NMATCH_COUNTS, NMATCH };

static inline int sk_match_at(const sk_report *r)
{
    return sk_run_at(r) + NRUN;
}

enum { TIMES, SKEIN_NS, HOST_NS, NCOMPARED };

static inline int sk_compared_at(const sk_report *r, int coll, int cls, bool host_won)
{
    return sk_match_at(r) + NMATCH + NCOMPARED * (2 * (coll * SK_NSIZES + cls) + host_won);
}

enum { NSENT = 5, BLOCKS = NSENT, FILLED, NTRAFFIC };

static inline int sk_traffic_at(const sk_report *r) /* as sk_report_traffic; then blocks */
{
    return sk_compared_at(r, SK_NCOLLS, 0, false);
}

static inline int sk_timeline_at(const sk_report *r)
{
    return sk_traffic_at(r) + NTRAFFIC;
}

static inline int64_t sk_report_get(const sk_report *r, int at)
{
    return atomic_load_explicit(&r->cell[at], memory_order_relaxed);
}

const char *sk_report_size_name(int size_class);

#endif
