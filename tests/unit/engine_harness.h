/* engine_harness.h: drives a matching engine without the matcher, which would keep short queues to
 * itself. */
#ifndef ENGINE_HARNESS_H
#define ENGINE_HARNESS_H

#include <stdlib.h>
#include <string.h>

#include "match/engine.h"
#include "unit.h"

enum { HARNESS_ITEMS = 4096 };

typedef struct engine_harness {
    const sk_engine *engine;
    void *self;
    uint64_t traversed; /* by all searches */
    uint32_t used;
    sk_match_item items[HARNESS_ITEMS];
} engine_harness;

static inline engine_harness *harness_new(const sk_engine *engine, const sk_match_config *config)
{
    engine_harness *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->engine = engine;
    r->self = engine->create(config);
    assert_non_null(r->self);
    return r;
}

static inline void harness_free(engine_harness *r)
{
    r->engine->destroy(r->self);
    free(r);
}

/* Returns the sequence number of the matching item, or -1 if the item was queued. Numbers count
 * from 0. */
static inline int harness_match(engine_harness *r, sk_match_side side, sk_match_item like)
{
    assert_true(r->used < HARNESS_ITEMS);
    sk_match_item *item = &r->items[r->used];
    *item = like;
    item->seq = r->used++;
    item->side = (uint8_t)side;
    sk_match_side other = side == SK_POSTED ? SK_UNEXPECTED : SK_POSTED;
    sk_match_item *found = r->engine->find(r->self, other, item, &r->traversed);
    if (found)
        r->engine->remove(r->self, found);
    else
        r->engine->add(r->self, item);
    return found ? (int)found->seq : -1;
}

static inline int harness_post(engine_harness *r, sk_match_item recv)
{
    return harness_match(r, SK_POSTED, recv);
}

static inline int harness_deliver(engine_harness *r, sk_match_item msg)
{
    return harness_match(r, SK_UNEXPECTED, msg);
}

/* The items that a search for this one traverses. */
static inline uint64_t harness_cost(engine_harness *r, sk_match_side side, sk_match_item like)
{
    uint64_t traversed = 0;
    r->engine->find(r->self, side, &like, &traversed);
    return traversed;
}

static inline sk_match_stats harness_stats(const engine_harness *r)
{
    sk_match_stats s = {0};
    r->engine->stats(r->self, &s);
    return s;
}

#endif
