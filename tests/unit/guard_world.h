/* Two ranks with a guard each and made-up times. */
#ifndef GUARD_WORLD_H
#define GUARD_WORLD_H

#include "unit.h"

#include <string.h>

#include "select/guard.h"

enum { RANKS = 2, FIRST = 20, BOTH = 1 << SK_GUARD_SKEIN | 1 << SK_GUARD_HOST };
typedef struct world {
    sk_guard rank[RANKS];
    int64_t skein[RANKS], host[RANKS], other[RANKS]; /* ns of a call */
    int64_t calls, hosts, others;                    /* so far; served by the host, by the other */
    int64_t total;                                   /* ns of the slowest rank */
    int64_t mine[RANKS][SK_GUARD_VALUES];            /* what each brings to a comparison */
    int64_t meeting;                                 /* ns until the ranks agree */
    int64_t clock;                                   /* ns to read the clock */
    int64_t
        waits[SK_GUARD_SIDES]; /* ns that a rank waits for the others after the calls of a side */
    int came;
    int decided;        /* comparisons that ended */
    sk_guard_side side; /* of the last call */
} world;

static inline world make_sides(unsigned sides, int64_t skein, int64_t host, int64_t other)
{
    world w = {.skein = {skein, skein}, .host = {host, host}, .other = {other, other}};
    for (int i = 0; i < RANKS; i++) {
        w.rank[i] = sk_guard_new(FIRST);
        sk_guard_compare(&w.rank[i], sides);
    }
    return w;
}

static inline world make(int64_t skein, int64_t host)
{
    return make_sides(BOTH, skein, host, 1);
}

static inline bool only_meets(const int64_t values[SK_GUARD_VALUES])
{
    bool any = false;
    for (int i = 0; i < SK_GUARD_VALUES; i++)
        any = any || values[i];
    return !any;
}

/* Ranks come one after the other. What the second one brings is what the first one would, with its own
 * times; so the first one is asked again once both are known. */
static inline int64_t note(void *of, int64_t values[SK_GUARD_VALUES])
{
    world *w = of;
    if (only_meets(values))
        return w->waits[w->side];
    memcpy(w->mine[w->came % RANKS], values, sizeof w->mine[0]);
    w->came++;
    return 0;
}

static inline int64_t largest(void *of, int64_t values[SK_GUARD_VALUES])
{
    world *w = of;
    w->total += w->meeting / RANKS;
    if (only_meets(values))
        return w->waits[w->side];
    for (int i = 0; i < RANKS; i++)
        for (int k = 0; k < SK_GUARD_SIDES; k++)
            if (w->mine[i][k] > values[k])
                values[k] = w->mine[i][k];
    values[SK_GUARD_MEETING] = w->meeting;
    values[SK_GUARD_CLOCK] = w->clock;
    return 0;
}

/* What the ranks said, each for itself, counts. `late` is added to Skein's time at rank 1. */
static inline void serve(world *w, const sk_guard_verdict v[RANKS], int64_t late)
{
    int64_t slowest = 0;
    for (int i = 0; i < RANKS; i++) {
        int64_t took = v[i].side == SK_GUARD_HOST    ? w->host[i]
                       : v[i].side == SK_GUARD_OTHER ? w->other[i]
                                                     : w->skein[i] + (i == 1 ? late : 0);
        if (v[i].timed)
            sk_guard_took(&w->rank[i], took);
        slowest = took > slowest ? took : slowest;
    }
    assert_int_equal(v[0].side, v[1].side);
    assert_int_equal(v[0].timed, v[1].timed);
    assert_int_equal(v[0].decided, v[1].decided);
    w->decided += v[0].decided;
    w->side = v[0].side;
    w->calls++;
    w->hosts += v[0].side == SK_GUARD_HOST;
    w->others += v[0].side == SK_GUARD_OTHER;
    w->total += slowest;
}

#endif
