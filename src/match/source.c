/* source.c: a list per source and side, as Open MPI's ob1 does it. Receives from any source stand
 * in a list of their own; ages decide between the two. cost  a message, or a receive from a known
 * source: the items of that source before the one that fits, and the receives from any source; a
 * receive from any source: all sources good for  few messages per source and no wildcards */
#include <stdlib.h>

#include "match/engine.h"
#include "match/queue.h"

enum { MAX_SOURCES = 1 << 20, MIN_SOURCES = 64 };

typedef struct pair {
    sk_queue side[SK_NSIDES];
} pair;

typedef struct source {
    pair **by_source; /* NULL: nothing queued yet */
    uint32_t nsources;
    /* Receives from any source, and the items of sources there is no memory for. */
    pair rest;
    uint64_t pairs;
} source;

static void *source_make(const sk_match_config *config)
{
    (void)config;
    return calloc(1, sizeof(source));
}

static void source_drop(void *self)
{
    source *s = self;
    for (uint32_t i = 0; i < s->nsources; i++)
        free(s->by_source[i]);
    free(s->by_source);
    free(s);
}

/* The oldest item of `q` that fits and is older than `best`; else `best`, which may be NULL. */
static inline sk_item *queue_better(const sk_queue *q, sk_match_side side, const sk_item *item,
                                    sk_item *best, uint64_t *looked)
{
    for (sk_item *at = q->head; at && (!best || at->age < best->age); at = at->next) {
        ++*looked;
        if (side == SK_POSTED ? sk_item_fits(at, item) : sk_item_fits(item, at))
            return at;
    }
    return best;
}

static sk_item *source_find(void *self, sk_match_side side, const sk_item *item, uint64_t *looked)
{
    source *s = self;
    sk_item *best = NULL;
    uint32_t first = item->source, last = item->source;
    if (item->source == SK_ANY_SOURCE) {
        first = 0;
        last = UINT32_MAX - 1;
    }
    for (uint32_t i = first; i <= last && i < s->nsources; i++)
        if (s->by_source[i])
            best = queue_better(&s->by_source[i]->side[side], side, item, best, looked);
    return queue_better(&s->rest.side[side], side, item, best, looked);
}

/* Make room for `wanted`; the rest serves when there is no memory. */
static void source_grow(source *s, uint32_t wanted)
{
    uint32_t n = s->nsources ? s->nsources : MIN_SOURCES;
    while (n <= wanted)
        n *= 2;
    pair **more = realloc(s->by_source, n * sizeof(void *));
    if (!more)
        return;
    for (uint32_t i = s->nsources; i < n; i++)
        more[i] = NULL;
    s->by_source = more;
    s->nsources = n;
}

static pair *source_pair(source *s, uint32_t number)
{
    if (number >= MAX_SOURCES) /* SK_ANY_SOURCE too */
        return &s->rest;
    if (number >= s->nsources)
        source_grow(s, number);
    if (number >= s->nsources)
        return &s->rest;
    pair **p = &s->by_source[number];
    if (!*p) {
        *p = calloc(1, sizeof **p);
        s->pairs += *p != NULL;
    }
    return *p ? *p : &s->rest;
}

static void source_add(void *self, sk_item *item)
{
    sk_queue *q = &source_pair(self, item->source)->side[item->side];
    item->queue = q;
    sk_queue_push(q, item);
}

static void source_take(void *self, sk_item *item)
{
    (void)self;
    sk_queue_remove(item->queue, item);
}

/* First those of the sources, by number, then the rest. */
static sk_item *source_next(void *self, sk_match_side side, sk_item *after)
{
    source *s = self;
    if (after && after->next)
        return after->next;
    sk_queue *rest = &s->rest.side[side];
    if (after && after->queue == rest)
        return NULL;
    for (uint32_t i = after ? after->source + 1 : 0; i < s->nsources; i++) {
        const pair *p = s->by_source[i];
        if (p && p->side[side].head)
            return p->side[side].head;
    }
    return rest->head;
}

static void source_count(const void *self, sk_match_stats *out)
{
    const source *s = self;
    out->queues = SK_NSIDES * s->pairs;
    for (int side = 0; side < SK_NSIDES; side++)
        out->queues_p2p[side] = s->pairs;
    out->bytes = sizeof *s + s->nsources * sizeof(void *) + s->pairs * sizeof(pair);
}

const sk_engine sk_engine_source = {
    .name = "source",
    .help = "a list per source rank, as Open MPI's ob1",
    .make = source_make,
    .drop = source_drop,
    .find = source_find,
    .add = source_add,
    .take = source_take,
    .next = source_next,
    .count = source_count,
};
