#include "bench/match/play.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/match/player.h"

double sk_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of this thread: what others do on the same core does not count. Too slow to be asked often. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

sk_status sk_player_new(const sk_stream *s, sk_player **out)
{
    sk_player *p = calloc(1, sizeof *p);
    size_t n = (size_t)s->items + 1; /* no array is empty */
    if (!p)
        return SK_NOMEM;
    p->s = s;
    p->nitems = s->items;
    p->items = calloc(n, sizeof *p->items);
    p->place = malloc(n * sizeof *p->place);
    p->partner = malloc(n * sizeof *p->partner);
    if (!p->items || !p->place || !p->partner) {
        sk_player_free(p);
        return SK_NOMEM;
    }
    for (uint32_t i = 0; i < s->items; i++)
        p->place[i] = i;
    *out = p;
    return SK_OK;
}

void sk_player_free(sk_player *p)
{
    if (!p)
        return;
    free(p->items);
    free(p->place);
    free(p->partner);
    free(p);
}

static inline void fill(sk_match_item *item, const sk_trace_record *r)
{
    item->tag = r->tag;
    item->ignore = r->ignore;
    item->source = r->source;
    item->nranks = r->nranks;
    item->call = r->call;
    item->kind = r->kind;
    item->size = r->size;
}

static inline void note(sk_player *p, uint32_t id, const sk_match_item *found)
{
    if (!p->partner)
        return;
    uint32_t other = found ? (uint32_t)(found - p->items) : SK_NOBODY;
    p->partner[id] = other;
    if (found)
        p->partner[other] = id;
}

/* One operation; what it returned, as a number. */
static inline uint64_t play_op(sk_player *p, sk_matcher *m, const sk_trace_record *r)
{
    sk_match_item peek = {0}, *found = NULL, *item;
    switch (r->op) {
    case SK_TRACE_POST:
        item = &p->items[p->place[r->id]];
        fill(item, r);
        found = sk_matcher_post(m, item);
        note(p, r->id, found);
        break;
    case SK_TRACE_DELIVER:
        item = &p->items[p->place[r->id]];
        fill(item, r);
        found = sk_matcher_deliver(m, item);
        note(p, r->id, found);
        break;
    case SK_TRACE_PEEK:
        fill(&peek, r);
        found = sk_matcher_peek(m, &peek);
        break;
    case SK_TRACE_CLAIM:
        sk_matcher_claim(m, &p->items[p->place[r->id]]);
        return 0;
    default:
        return sk_matcher_cancel(m, &p->items[p->place[r->id]]);
    }
    return found ? (uint64_t)(found - p->items) + 2 : 0;
}

/* Not inlined: its name is what profilers are told to look at. */
static void __attribute__((noinline))
play_all(sk_player *p, sk_matcher *m, double limit, sk_played *out)
{
    enum { PORTION = 64 }; /* between two looks at the clock */
    const sk_trace_record *ops = p->s->ops;
    size_t n = p->s->n, i = 0;
    uint64_t sum = 0;
    double begin = sk_seconds(), now = begin, cpu = cpu_seconds();
    while (i < n && (now - begin <= limit || cpu_seconds() - cpu <= limit)) {
        size_t end = n - i > PORTION ? i + PORTION : n;
        for (; i < end; i++)
            sum = (sum ^ play_op(p, m, &ops[i])) * UINT64_C(0x9e3779b97f4a7c15);
        now = sk_seconds();
    }
    out->seconds = cpu_seconds() - cpu;
    out->ops = i;
    out->complete = i == n;
    out->result = sum;
}

/* From what went in and what is left: searches that find something are also those of peeks. */
static uint64_t count_matches(const sk_player *p, const sk_played *played)
{
    uint64_t n[SK_TRACE_NOPS] = {0}, left = 0;
    for (uint64_t i = 0; i < played->ops; i++)
        n[p->s->ops[i].op]++;
    for (int side = 0; side < SK_NSIDES; side++)
        left += played->stats.length[side];
    uint64_t gone = left + n[SK_TRACE_CLAIM] + n[SK_TRACE_CANCEL];
    return (n[SK_TRACE_POST] + n[SK_TRACE_DELIVER] - gone) / 2 + n[SK_TRACE_CLAIM];
}

sk_status sk_player_run(sk_player *p, const char *engine, const sk_match_config *config,
                        double limit, sk_played *out)
{
    sk_match_config c = *config;
    sk_matcher *m = NULL;
    if (c.nranks == 0)
        c.nranks = p->s->nranks;
    /* Streams may start with claims and cancels of items that were never handed in. */
    for (uint32_t i = 0; i < p->nitems; i++)
        p->items[i].side = SK_NSIDES;
    sk_status st = sk_matcher_new(engine, &c, &m);
    if (st != SK_OK)
        return st;
    play_all(p, m, limit, out);
    sk_matcher_stats(m, &out->stats);
    sk_matcher_free(m);
    out->matches = count_matches(p, out);
    return SK_OK;
}

sk_tally sk_tally_of(const sk_match_stats *s, bool p2p)
{
    sk_tally t = {0};
    for (int kind = p2p ? 0 : 1; kind < (p2p ? 1 : SK_STATS_KINDS); kind++)
        for (int side = 0; side < SK_STATS_SIDES; side++) {
            const sk_side_stats *x = &s->kind[kind][side];
            t.searches += x->searches;
            t.traversals += x->traversals;
            t.found += x->found;
        }
    return t;
}
