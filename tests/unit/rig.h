/* rig.h: a matching engine driven without the matcher, which would keep short queues for itself. */
#ifndef RIG_H
#define RIG_H

#include <stdlib.h>
#include <string.h>

#include "match/engine.h"
#include "unit.h"

enum { RIG_ITEMS = 4096 };

typedef struct rig {
    const sk_engine *engine;
    void *self;
    uint64_t traversed; /* items, by all searches */
    uint32_t used;
    sk_match_item items[RIG_ITEMS];
} rig;

static inline rig *rig_new(const sk_engine *engine, const sk_match_config *config)
{
    rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->engine = engine;
    r->self = engine->create(config);
    assert_non_null(r->self);
    return r;
}

static inline void rig_free(rig *r)
{
    r->engine->destroy(r->self);
    free(r);
}

/* The age of the item that is met, or -1 and the item waits. Ages count from 0. */
static inline int rig_meet(rig *r, sk_match_side side, sk_match_item like)
{
    assert_true(r->used < RIG_ITEMS);
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

static inline int rig_post(rig *r, sk_match_item recv)
{
    return rig_meet(r, SK_POSTED, recv);
}

static inline int rig_deliver(rig *r, sk_match_item msg)
{
    return rig_meet(r, SK_UNEXPECTED, msg);
}

/* Items that a search for this one looks at. */
static inline uint64_t rig_cost(rig *r, sk_match_side side, sk_match_item like)
{
    uint64_t traversed = 0;
    r->engine->find(r->self, side, &like, &traversed);
    return traversed;
}

static inline sk_match_stats rig_stats(const rig *r)
{
    sk_match_stats s = {0};
    r->engine->stats(r->self, &s);
    return s;
}

#endif
