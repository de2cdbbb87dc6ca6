/* plan.h: a schedule with its algorithm, kept so that the next call of the same shape builds
 * nothing. One sk_plans per communicator; the caller sees to it that one thread at a time uses it.
 * A plan lives until the last holder lets go, also after it was evicted. */
#ifndef SK_PLAN_H
#define SK_PLAN_H

#include <stdatomic.h>

#include "coll/traffic.h"
#include "select/select.h"

typedef struct sk_plan {
    const sk_algo *algo; /* NULL: the host MPI serves this shape */
    int algo_index;      /* in the table */
    sk_sched *sched;     /* NULL when algo is */
    int64_t bytes;       /* sk_call_bytes of the call */
    uint32_t sign;       /* of what ranks must agree on; the same on all, if they do */
    sk_off_node off;     /* what this rank sends to other nodes, when these are known */
    bool plain;          /* neighbours: chosen is what any MPI does, a message per edge */
    char why[sizeof((sk_choice *)0)->why];
    atomic_int holders;
} sk_plan;

void sk_plan_hold(sk_plan *p);
void sk_plan_release(sk_plan *p);

typedef struct sk_plans sk_plans;

sk_plans *sk_plans_new(int64_t cap); /* most plans kept, at least 1; NULL: out of memory */
void sk_plans_free(sk_plans *ps);

/* The plan of a call: found, or chosen and built. The plan is borrowed: valid until the next call
 * on this sk_plans, unless held. *out is set on success only. */
sk_status sk_plans_get(sk_plans *ps, const sk_select *sel, const sk_call *c, sk_plan **out);

typedef struct sk_plans_stats {
    int64_t built, evicted;
} sk_plans_stats;
sk_plans_stats sk_plans_count(const sk_plans *ps);

#endif
