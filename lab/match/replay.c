/* replay.c: see replay.h. */
#include "lab/match/replay.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NO_PARTNER UINT32_MAX

struct sk_replay {
    const sk_stream *s;
    sk_match_item *items;
    uint32_t nitems;
    uint32_t *index;   /* in items, by id */
    uint32_t *partner; /* by id, of the last run; NULL after sk_replay_reuse_items */
};

double sk_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of this thread, so that other load on the core does not count. Reading it is
 * slow. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

sk_status sk_replay_new(const sk_stream *s, sk_replay **out)
{
    sk_replay *p = calloc(1, sizeof *p);
    size_t n = (size_t)s->items + 1; /* never 0 */
    if (!p)
        return SK_NOMEM;
    p->s = s;
    p->nitems = s->items;
    p->items = calloc(n, sizeof *p->items);
    p->index = malloc(n * sizeof *p->index);
    p->partner = malloc(n * sizeof *p->partner);
    if (!p->items || !p->index || !p->partner) {
        sk_replay_free(p);
        return SK_NOMEM;
    }
    for (uint32_t i = 0; i < s->items; i++)
        p->index[i] = i;
    *out = p;
    return SK_OK;
}

void sk_replay_free(sk_replay *p)
{
    if (!p)
        return;
    free(p->items);
    free(p->index);
    free(p->partner);
    free(p);
}

static inline void fill_item(sk_match_item *item, const sk_trace_record *r)
{
    item->tag = r->tag;
    item->ignore = r->ignore;
    item->source = r->source;
    item->nranks = r->nranks;
    item->call = r->call;
    item->kind = r->kind;
    item->size = r->size;
}

static inline void note_partner(sk_replay *p, uint32_t id, const sk_match_item *found)
{
    if (!p->partner)
        return;
    uint32_t other = found ? (uint32_t)(found - p->items) : NO_PARTNER;
    p->partner[id] = other;
    if (found)
        p->partner[other] = id;
}

/* Runs one operation; returns its result as a number. */
static inline uint64_t replay_op(sk_replay *p, sk_matcher *m, const sk_trace_record *r)
{
    sk_match_item like = {0}, *found = NULL, *item;
    switch (r->op) {
    case SK_TRACE_POST:
        item = &p->items[p->index[r->id]];
        fill_item(item, r);
        found = sk_matcher_post(m, item);
        note_partner(p, r->id, found);
        break;
    case SK_TRACE_DELIVER:
        item = &p->items[p->index[r->id]];
        fill_item(item, r);
        found = sk_matcher_deliver(m, item);
        note_partner(p, r->id, found);
        break;
    case SK_TRACE_PROBE:
        fill_item(&like, r);
        found = sk_matcher_probe(m, &like);
        break;
    case SK_TRACE_CLAIM:
        sk_matcher_claim(m, &p->items[p->index[r->id]]);
        return 0;
    default:
        return sk_matcher_cancel(m, &p->items[p->index[r->id]]);
    }
    return found ? (uint64_t)(found - p->items) + 2 : 0;
}

/* Not inlined, so that profilers can be limited to this function. */
static void __attribute__((noinline))
replay_all(sk_replay *p, sk_matcher *m, double limit, sk_replay_result *out)
{
    enum { OPS_PER_CLOCK = 64 }; /* operations between two readings of the clock */
    const sk_trace_record *ops = p->s->ops;
    size_t n = p->s->n, i = 0;
    uint64_t sum = 0;
    double begin = sk_seconds(), now = begin, cpu = cpu_seconds();
    while (i < n && (now - begin <= limit || cpu_seconds() - cpu <= limit)) {
        size_t end = n - i > OPS_PER_CLOCK ? i + OPS_PER_CLOCK : n;
        for (; i < end; i++)
            sum = (sum ^ replay_op(p, m, &ops[i])) * UINT64_C(0x9e3779b97f4a7c15);
        now = sk_seconds();
    }
    out->seconds = cpu_seconds() - cpu;
    out->ops = i;
    out->complete = i == n;
    out->result = sum;
}

/* Computed from the items added, removed and left: found searches include those of probes. */
static uint64_t count_matches(const sk_replay *p, const sk_replay_result *r)
{
    uint64_t n[SK_TRACE_NOPS] = {0}, left = 0;
    for (uint64_t i = 0; i < r->ops; i++)
        n[p->s->ops[i].op]++;
    for (int side = 0; side < SK_NSIDES; side++)
        left += r->stats.length[side];
    uint64_t gone = left + n[SK_TRACE_CLAIM] + n[SK_TRACE_CANCEL];
    return (n[SK_TRACE_POST] + n[SK_TRACE_DELIVER] - gone) / 2 + n[SK_TRACE_CLAIM];
}

sk_status sk_replay_run(sk_replay *p, const char *engine, const sk_match_config *config,
                        double limit, sk_replay_result *out)
{
    sk_match_config c = *config;
    sk_matcher *m = NULL;
    if (c.nranks == 0)
        c.nranks = p->s->nranks;
    /* A stream may claim and cancel items before they are posted or delivered. */
    for (uint32_t i = 0; i < p->nitems; i++)
        p->items[i].side = SK_NSIDES;
    sk_status st = sk_matcher_new(engine, &c, &m);
    if (st != SK_OK)
        return st;
    replay_all(p, m, limit, out);
    sk_matcher_stats(m, &out->stats);
    sk_matcher_free(m);
    out->matches = count_matches(p, out);
    return SK_OK;
}

/* Assigns memory to items: the free entries of `items` are a stack, like that of an allocator.
 * Which items match is known from the run before. */
typedef struct reuse_state {
    uint32_t *free, nfree, used;
    bool *queued; /* by id */
} reuse_state;

static bool reuse_op(sk_replay *p, reuse_state *k, const sk_trace_record *r)
{
    uint32_t other;
    switch (r->op) {
    case SK_TRACE_POST:
    case SK_TRACE_DELIVER:
        p->index[r->id] = k->nfree ? k->free[--k->nfree] : k->used++;
        other = p->partner[r->id];
        if (other == NO_PARTNER || other > r->id) { /* queued, perhaps for a later item */
            k->queued[r->id] = true;
            return true;
        }
        k->queued[other] = false;
        k->free[k->nfree++] = p->index[other];
        k->free[k->nfree++] = p->index[r->id];
        return true;
    case SK_TRACE_CLAIM:
    case SK_TRACE_CANCEL:
        if (!k->queued[r->id])
            return false;
        k->queued[r->id] = false;
        k->free[k->nfree++] = p->index[r->id];
        return true;
    default:
        return true;
    }
}

sk_status sk_replay_reuse_items(sk_replay *p)
{
    size_t n = (size_t)p->nitems + 1;
    reuse_state k = {.free = malloc(2 * n * sizeof *k.free), .queued = calloc(n, sizeof *k.queued)};
    sk_status st = k.free && k.queued ? SK_OK : SK_NOMEM;
    for (size_t i = 0; st == SK_OK && i < p->s->n; i++)
        if (!reuse_op(p, &k, &p->s->ops[i]))
            st = SK_BADARG;
    free(k.free);
    free(k.queued);
    if (st != SK_OK)
        return st;
    free(p->partner);
    p->partner = NULL;
    p->nitems = k.used;
    sk_match_item *fewer = realloc(p->items, ((size_t)k.used + 1) * sizeof *p->items);
    p->items = fewer ? fewer : p->items;
    return SK_OK;
}

sk_search_sums sk_search_sums_of(const sk_match_stats *s, bool p2p)
{
    sk_search_sums t = {0};
    for (int kind = p2p ? 0 : 1; kind < (p2p ? 1 : SK_STATS_KINDS); kind++)
        for (int side = 0; side < SK_STATS_SIDES; side++) {
            const sk_side_stats *x = &s->kind[kind][side];
            t.searches += x->searches;
            t.traversals += x->traversals;
            t.found += x->found;
        }
    return t;
}
