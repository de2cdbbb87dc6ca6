/* source.c: one list per source and side, as Open MPI's ob1 does. Receives from any source wait in
 * a list of their own. Sequence numbers decide between the two lists.
 *
 *   cost      a message, or a receive from a given source: the items of that source before the one
 *             that matches, and the receives from any source
 *             a receive from any source: all sources
 *   good for  few messages per source and no wildcards */
#include <stdlib.h>

#include "match/engine.h"
#include "match/queue.h"

enum { MAX_SOURCES = 1 << 20, MIN_SOURCES = 64 };

/* The posted and the unexpected queue of one source. */
typedef struct source_queues {
    sk_match_queue side[SK_NSIDES];
} source_queues;

typedef struct source_engine {
    source_queues **by_source; /* NULL: this source has no queues yet */
    uint32_t nsources;         /* length of by_source */
    /* Receives from any source, and items of sources for whose queues there is no memory. */
    source_queues shared;
    uint64_t npairs; /* pairs of queues made */
} source_engine;

static void *source_create(const sk_match_config *config)
{
    (void)config;
    return calloc(1, sizeof(source_engine));
}

static void source_destroy(void *self)
{
    source_engine *s = self;
    for (uint32_t i = 0; i < s->nsources; i++)
        free(s->by_source[i]);
    free(s->by_source);
    free(s);
}

/* The oldest item of `q` that matches and is older than `best`, else `best`, which may be NULL. */
static inline sk_match_item *queue_find_older(const sk_match_queue *q, sk_match_side side,
                                              const sk_match_item *item, sk_match_item *best,
                                              uint64_t *traversed)
{
    for (sk_match_item *at = q->head; at && (!best || at->seq < best->seq); at = at->next) {
        ++*traversed;
        if (side == SK_POSTED ? sk_match_fits(at, item) : sk_match_fits(item, at))
            return at;
    }
    return best;
}

static sk_match_item *source_find(void *self, sk_match_side side, const sk_match_item *item,
                                  uint64_t *traversed)
{
    source_engine *s = self;
    sk_match_item *best = NULL;
    uint32_t first = item->source, last = item->source;
    if (item->source == SK_ANY_SOURCE) {
        first = 0;
        last = UINT32_MAX - 1;
    }
    for (uint32_t i = first; i <= last && i < s->nsources; i++)
        if (s->by_source[i])
            best = queue_find_older(&s->by_source[i]->side[side], side, item, best, traversed);
    return queue_find_older(&s->shared.side[side], side, item, best, traversed);
}

/* Extends by_source to include `wanted`. Without memory, the shared queues are used. */
static void source_grow(source_engine *s, uint32_t wanted)
{
    uint32_t n = s->nsources ? s->nsources : MIN_SOURCES;
    while (n <= wanted)
        n *= 2;
    source_queues **more = realloc(s->by_source, n * sizeof(void *));
    if (!more)
        return;
    for (uint32_t i = s->nsources; i < n; i++)
        more[i] = NULL;
    s->by_source = more;
    s->nsources = n;
}

static source_queues *queues_of(source_engine *s, uint32_t number)
{
    if (number >= MAX_SOURCES) /* SK_ANY_SOURCE too */
        return &s->shared;
    if (number >= s->nsources)
        source_grow(s, number);
    if (number >= s->nsources)
        return &s->shared;
    source_queues **p = &s->by_source[number];
    if (!*p) {
        *p = calloc(1, sizeof **p);
        s->npairs += *p != NULL;
    }
    return *p ? *p : &s->shared;
}

static void source_add(void *self, sk_match_item *item)
{
    sk_match_queue *q = &queues_of(self, item->source)->side[item->side];
    item->queue = q;
    sk_match_queue_push(q, item);
}

static void source_remove(void *self, sk_match_item *item)
{
    (void)self;
    sk_match_queue_remove(item->queue, item);
}

/* First the items of the sources, by number, then the shared queue. */
static sk_match_item *source_next(void *self, sk_match_side side, sk_match_item *after)
{
    source_engine *s = self;
    if (after && after->next)
        return after->next;
    sk_match_queue *shared = &s->shared.side[side];
    if (after && after->queue == shared)
        return NULL;
    for (uint32_t i = after ? after->source + 1 : 0; i < s->nsources; i++) {
        const source_queues *p = s->by_source[i];
        if (p && p->side[side].head)
            return p->side[side].head;
    }
    return shared->head;
}

static void source_stats(const void *self, sk_match_stats *out)
{
    const source_engine *s = self;
    out->queues = SK_NSIDES * s->npairs;
    for (int side = 0; side < SK_NSIDES; side++)
        out->queues_p2p[side] = s->npairs;
    out->bytes = sizeof *s + s->nsources * sizeof(void *) + s->npairs * sizeof(source_queues);
}

const sk_engine sk_engine_source = {
    .name = "source",
    .help = "a list per source rank, as Open MPI's ob1",
    .create = source_create,
    .destroy = source_destroy,
    .find = source_find,
    .add = source_add,
    .remove = source_remove,
    .next = source_next,
    .stats = source_stats,
};
