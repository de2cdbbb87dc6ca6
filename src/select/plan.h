/* plan.h: the plan cache. A plan is a schedule with its algorithm, kept so that the next call with
 * the same arguments builds nothing. Each communicator has one sk_plans; only one thread may use
 * it at a time. A plan is reference counted: it outlives its eviction until the last holder
 * releases it. */
#ifndef SK_PLAN_H
#define SK_PLAN_H

#include <stdatomic.h>

#include "coll/traffic.h"
#include "select/select.h"

typedef struct sk_plan {
    const sk_algo *algo; /* NULL: the host MPI serves the call */
    int algo_index;      /* in the table */
    sk_sched *sched;     /* NULL when algo is */
    int64_t bytes;       /* sk_call_bytes of the call */
    int64_t size;        /* sk_call_size of the call */
    uint32_t signature;  /* hash of what all ranks must agree on */
    sk_sent sent;        /* by this rank, when the nodes are known */
    bool plain;          /* neighbours: the host does it as well, or better */
    bool host;           /* the host serves blocking calls, by measured times */
    bool straight;       /* between nodes a message for each block, as the host sends it */
    atomic_int holders;
} sk_plan;

void sk_plan_hold(sk_plan *p);
void sk_plan_release(sk_plan *p);

typedef struct sk_plans sk_plans;

sk_plans *sk_plans_new(int64_t cap); /* at most `cap` plans, at least 1; NULL: out of memory */
void sk_plans_free(sk_plans *ps);

/* The plan of a call, from the cache or newly chosen and built. It is borrowed: without
 * sk_plan_hold it is valid until the next call on this sk_plans. *out is set on success only. */
sk_status sk_plans_get(sk_plans *ps, const sk_select *sel, const sk_call *c, sk_plan **out);

typedef struct sk_plans_stats {
    int64_t built, evicted;
} sk_plans_stats;
sk_plans_stats sk_plans_count(const sk_plans *ps);

#endif
