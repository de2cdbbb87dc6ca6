/* match_random.h: random operations on all matching engines at once. */
#ifndef MATCH_RANDOM_H
#define MATCH_RANDOM_H

#include "fuzz/engine_set.h"
#include "unit.h"

enum { ITEMS = 1500 };

typedef struct op_mix {
    const char *name;
    unsigned tags, sources, kinds, comms;
    unsigned any_source, any_tag, masks, any_kind; /* percent of the receives */
    unsigned burst;                                /* longest run of posts or deliveries */
    bool hints;                                    /* random and unequal on both ends */
    unsigned same; /* percent of the items that have one and the same key */
} op_mix;

static const op_mix op_mixes[] = {
    {"one key, long and short in turn", 1, 1, 1, 1, 0, 0, 0, 0, 150, false, 0},
    {"in the order they came", 2, 1, 1, 1, 1, 0, 0, 0, 300, false, 98},
    {"nearly in the order they came", 2, 2, 1, 1, 5, 5, 1, 0, 200, true, 90},
    {"few keys, many wildcard classes", 2, 2, 2, 1, 30, 30, 20, 20, 150, true, 50},
    {"few keys, some wildcard classes", 3, 1, 1, 1, 25, 10, 0, 10, 150, false, 30},
    {"short queues, exact", 4, 4, 1, 2, 0, 0, 0, 0, 8, false, 0},
    {"short queues, all wildcards", 3, 3, 2, 2, 30, 30, 10, 10, 12, true, 0},
    {"long queues, exact", 64, 64, 1, 3, 0, 0, 0, 0, 1200, false, 0},
    {"long queues, few wildcards", 64, 64, 4, 3, 5, 5, 2, 2, 900, true, 0},
    {"long queues, many wildcards", 400, 16, 3, 4, 40, 20, 20, 10, 700, true, 0},
    {"all from any source", 1000, 200, 1, 1, 100, 0, 0, 0, 900, false, 0},
    {"all with any tag", 1000, 200, 1, 2, 0, 100, 0, 0, 900, false, 0},
    {"many sources, one tag", 1, 8192, 2, 1, 3, 0, 0, 0, 1000, true, 0},
    {"more masks than classes", 32, 8, 2, 2, 20, 10, 70, 10, 300, true, 0},
    {"collectives with wrong hints", 8, 300, 100, 2, 3, 3, 0, 3, 1000, true, 0},
};
enum { NMIXES = sizeof op_mixes / sizeof op_mixes[0] };

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

static inline bool chance(uint64_t *state, unsigned percent)
{
    return next_random(state) % 100 < percent;
}

/* A message, as Open MPI would make its tag: communicator above, protocol bits, tag below. */
static inline sk_match_item some_item(const op_mix *p, uint64_t *r)
{
    sk_match_item item = {
        .tag = next_random(r) % p->comms << 34 | (uint64_t)chance(r, 10) << 33 |
               next_random(r) % p->tags,
        .source = (uint32_t)(next_random(r) % p->sources),
        .kind = (uint16_t)(next_random(r) % p->kinds),
    };
    if (chance(r, p->same)) {
        item.tag = 0;
        item.source = 0;
        item.kind = 0;
    }
    if (p->hints) {
        item.size = (uint8_t)(next_random(r) % 24);
        item.nranks = 1U << next_random(r) % 12;
        item.call = (uint32_t)(next_random(r) % 50);
    }
    return item;
}

static inline sk_match_item some_recv(const op_mix *p, uint64_t *r)
{
    sk_match_item item = some_item(p, r);
    item.ignore = UINT64_C(3) << 32; /* the protocol bits */
    if (chance(r, p->any_source))
        item.source = SK_ANY_SOURCE;
    if (chance(r, p->any_tag))
        item.ignore |= 0x7fffffff;
    if (chance(r, p->masks))
        item.ignore = next_random(r) & next_random(r) & 0x3f;
    if (chance(r, p->any_kind))
        item.kind = SK_ANY_KIND;
    return item;
}

static inline int some_other(engine_set *w, const op_mix *p, uint64_t *r)
{
    sk_match_item recv = some_recv(p, r);
    switch (next_random(r) % 3) {
    case 0:
        return engine_set_probe(w, &recv, false);
    case 1:
        return engine_set_probe(w, &recv, true);
    default:
        return engine_set_cancel(w, (int)(next_random(r) % (uint64_t)w->nitems));
    }
}

/* A run of posts or deliveries with other operations in between; returns their number. */
static inline long run_burst(engine_set *w, const op_mix *p, uint64_t *r, uint64_t seed)
{
    sk_match_side side = chance(r, 50) ? SK_POSTED : SK_UNEXPECTED;
    uint64_t run = 1 + next_random(r) % p->burst, i = 0;
    for (; i < run && w->nvacant > 0; i++) {
        sk_match_item item = side == SK_POSTED ? some_recv(p, r) : some_item(p, r);
        int got = chance(r, 6) ? some_other(w, p, r) : engine_set_match(w, &item, side, p->hints);
        if (got == SET_DIFFERENT)
            fail_msg("%s, seed %llu: %s", p->name, (unsigned long long)seed, w->wrong);
    }
    return (long)i;
}

#endif
