#include "mpi/dispatch/guarded.h"

#include <stdlib.h>
#include <time.h>

#include "mpi/dispatch/worth.h"
#include "mpi/state/world.h"

static bool bits_may_change(const sk_args *a)
{
    return sk_coll_reduces(a->coll) && (sk_proc.reproducible || sk_args_may_round(a));
}

/* Sizes within a factor of two; where not all ranks know the sizes, all of them. */
static int size_class_of(const sk_call *call)
{
    switch (call->coll) {
    case SK_BARRIER:
    case SK_SCATTERV:
    case SK_GATHERV:
    case SK_ALLTOALLV:
    case SK_ALLTOALLW:
        return 0;
    default: {
        int64_t bytes = sk_call_bytes(call);
        int class = 0;
        while (bytes >> class)
            class ++;
        return class;
    }
    }
}

/* Where collectives do not progress inside the host, one on another communicator may be active that a rank
 * must finish before it comes to this call: the host serves nothing that Skein can. */
static bool host_can_be_tried(void)
{
    return sk_proc.world && sk_proc.world->progress_everywhere && !sk_worth_host_is_slow();
}

static void free_cells(sk_guarded *first)
{
    for (sk_guarded *g = first, *next; g; g = next) {
        next = g->next;
        free(g);
    }
}

sk_guarded *sk_guarded_find(sk_comm *c, const sk_args *a, const sk_call *call)
{
    if (sk_proc.guard_after < 0 || a->form != SK_BLOCKING || c->nranks < 2 || c->devices ||
        sk_coll_neighbor(a->coll) || sk_select_forced(sk_proc.select, a->coll) ||
        bits_may_change(a) || !host_can_be_tried())
        return NULL;
    int class = size_class_of(call);
    sk_guarded *g = c->guarded;
    while (g && (g->coll != a->coll || g->size_class != class))
        g = g->next;
    if (g)
        return g;
    g = calloc(1, sizeof *g);
    if (!g)
        sk_host.Abort(c->user, MPI_ERR_NO_MEM); /* the others count */
    *g = (sk_guarded){.guard = sk_guard_new(sk_proc.guard_after),
                      .next = c->guarded,
                      .coll = a->coll,
                      .size_class = class};
    c->guarded_free = free_cells;
    return c->guarded = g;
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void largest(void *of, int64_t values[2])
{
    sk_comm *c = of;
    if (!sk_comm_largest(c, values, 2))
        sk_host.Abort(c->user, MPI_ERR_INTERN); /* the others would decide something else */
}

/* All ranks have the same times; one of them counts, so that the report can add up over ranks. */
static void report_comparison(const sk_guarded *g, const sk_comm *c, int64_t bytes, bool host)
{
    sk_guard_times t = sk_guard_last_times(&g->guard);
    if (c->rank == 0)
        sk_report_comparison(
            sk_proc.report, g->coll, bytes,
            &(sk_report_outcome){.host_won = host, .skein_ns = t.skein, .host_ns = t.host});
}

sk_guard_verdict sk_guarded_ask(sk_guarded *g, sk_comm *c, int64_t bytes)
{
    sk_guard_verdict v = sk_guard_ask(&g->guard, largest, c);
    if (v.compared)
        report_comparison(g, c, bytes, v.host);
    if (v.timed)
        g->since = now();
    return v;
}

void sk_guarded_over(sk_guarded *g)
{
    sk_guard_took(&g->guard, now() - g->since);
}
