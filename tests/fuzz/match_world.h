/* match_world.h: the same operations on every engine at once. Item number i stands in every
 * engine's own array, so the answers can be compared: all have to be those of the first engine,
 * `list`. */
#ifndef MATCH_WORLD_H
#define MATCH_WORLD_H

#include <stdio.h>
#include <stdlib.h>

#include "match/matcher.h"

enum { WORLD_ENGINES = 16, WORLD_NONE = -1, WORLD_WRONG = -2 };

typedef enum world_state { WORLD_NEW, WORLD_FREE, WORLD_RECV, WORLD_MSG } world_state;

typedef struct world {
    int nengines, nitems;
    sk_matcher *matcher[WORLD_ENGINES];
    sk_match_item *items[WORLD_ENGINES];
    uint8_t *state;
    int *vacant; /* numbers of free items, the first `nvacant` */
    int nvacant;
    int depth[SK_NSIDES];
    char wrong[256]; /* what differed */
} world;

static inline void world_free(world *w)
{
    if (!w)
        return;
    for (int e = 0; e < w->nengines; e++) {
        sk_matcher_free(w->matcher[e]);
        free(w->items[e]);
    }
    free(w->state);
    free(w->vacant);
    free(w);
}

/* NULL: out of memory. */
static inline world *world_new(int nitems, const sk_match_config *config)
{
    world *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->nitems = w->nvacant = nitems;
    w->state = calloc((size_t)nitems, sizeof *w->state);
    w->vacant = calloc((size_t)nitems, sizeof *w->vacant);
    bool ok = w->state && w->vacant;
    for (int i = 0; ok && i < nitems; i++)
        w->vacant[i] = nitems - 1 - i;
    for (int e = 0; ok && e < WORLD_ENGINES && sk_engine_name(e); e++) {
        w->nengines++;
        w->items[e] = calloc((size_t)nitems, sizeof *w->items[e]);
        ok = w->items[e] && sk_matcher_new(sk_engine_name(e), config, &w->matcher[e]) == SK_OK;
    }
    if (ok)
        return w;
    world_free(w);
    return NULL;
}

/* Fold the answer of engine `e` into `all`, the answers so far. */
static inline int world_fold(world *w, int e, const sk_match_item *answer, int all,
                             const char *what, const sk_match_item *asked)
{
    int number = answer ? (int)(answer - w->items[e]) : WORLD_NONE;
    if (e == 0 || all == WORLD_WRONG || number == all)
        return e == 0 ? number : all;
    snprintf(w->wrong, sizeof w->wrong,
             "%s: %s tag %#llx ignore %#llx source %u kind %u: item %d, but %s says %d",
             sk_engine_name(e), what, (unsigned long long)asked->tag,
             (unsigned long long)asked->ignore, asked->source, asked->kind, number,
             sk_engine_name(0), all);
    return WORLD_WRONG;
}

static inline void world_vacate(world *w, int number)
{
    w->depth[w->state[number] == WORLD_RECV ? SK_POSTED : SK_UNEXPECTED]--;
    w->state[number] = WORLD_FREE;
    w->vacant[w->nvacant++] = number;
}

/* Post a receive or deliver a message: the number of its partner, WORLD_NONE or WORLD_WRONG. The
 * engines get unequal hints if `unequal`. There must be a vacant item. */
static inline int world_meet(world *w, const sk_match_item *like, sk_match_side side, bool unequal)
{
    int number = w->vacant[--w->nvacant], all = WORLD_NONE;
    for (int e = 0; e < w->nengines; e++) {
        sk_match_item *item = &w->items[e][number];
        *item = *like;
        if (unequal) {
            item->call += (uint32_t)e;
            item->nranks ^= (uint32_t)e;
            item->size = (uint8_t)(item->size + e);
        }
        if (side == SK_UNEXPECTED)
            sk_matcher_prefetch(w->matcher[e], item);
        sk_match_item *answer = side == SK_POSTED ? sk_matcher_post(w->matcher[e], item)
                                                  : sk_matcher_deliver(w->matcher[e], item);
        all = world_fold(w, e, answer, all, side == SK_POSTED ? "post" : "deliver", like);
    }
    w->state[number] = side == SK_POSTED ? WORLD_RECV : WORLD_MSG;
    w->depth[side]++;
    if (all >= 0) {
        world_vacate(w, number);
        world_vacate(w, all);
    }
    return all;
}

/* The number of the message found; with `claim` it is taken off its queue. */
static inline int world_peek(world *w, const sk_match_item *recv, bool claim)
{
    int all = WORLD_NONE;
    for (int e = 0; e < w->nengines; e++)
        all = world_fold(w, e, sk_matcher_peek(w->matcher[e], recv), all, "peek", recv);
    if (all >= 0 && claim) {
        for (int e = 0; e < w->nengines; e++)
            sk_matcher_claim(w->matcher[e], &w->items[e][all]);
        world_vacate(w, all);
    }
    return all;
}

/* Cancel item `number`, which may be taken meanwhile: WORLD_NONE, or WORLD_WRONG. */
static inline int world_cancel(world *w, int number)
{
    if (w->state[number] == WORLD_NEW)
        return WORLD_NONE;
    bool queued = w->state[number] == WORLD_RECV;
    for (int e = 0; e < w->nengines; e++) {
        if (sk_matcher_cancel(w->matcher[e], &w->items[e][number]) == queued)
            continue;
        snprintf(w->wrong, sizeof w->wrong, "%s: cancel of item %d", sk_engine_name(e), number);
        return WORLD_WRONG;
    }
    if (queued)
        world_vacate(w, number);
    return WORLD_NONE;
}

/* Iterate both sides of every engine and, if `remove`, take everything off: each queued item must
 * come exactly once. */
static inline int world_sweep(world *w, bool remove)
{
    uint8_t *seen = calloc((size_t)w->nitems, 1);
    int all = seen ? WORLD_NONE : WORLD_WRONG;
    for (int e = 0; e < w->nengines * SK_NSIDES && all != WORLD_WRONG; e++) {
        sk_matcher *m = w->matcher[e / SK_NSIDES];
        const sk_match_item *items = w->items[e / SK_NSIDES];
        sk_match_side side = (sk_match_side)(e % SK_NSIDES);
        uint8_t mark = (uint8_t)(e / SK_NSIDES + 1);
        int count = 0;
        for (sk_match_item *item = sk_matcher_next(m, side, NULL), *next; item; item = next) {
            next = sk_matcher_next(m, side, item);
            int number = (int)(item - items);
            bool fresh = seen[number] != mark;
            seen[number] = mark;
            count += fresh && w->state[number] == (side == SK_POSTED ? WORLD_RECV : WORLD_MSG);
            if (remove && side == SK_POSTED)
                sk_matcher_cancel(m, item);
            else if (remove)
                sk_matcher_claim(m, item);
            if (!fresh || count > w->depth[side])
                break;
        }
        if (count != w->depth[side]) {
            snprintf(w->wrong, sizeof w->wrong, "%s: sweep of side %d met %d of %d items",
                     sk_matcher_engine(m), side, count, w->depth[side]);
            all = WORLD_WRONG;
        }
    }
    for (int i = 0; remove && i < w->nitems; i++)
        if (w->state[i] == WORLD_RECV || w->state[i] == WORLD_MSG)
            world_vacate(w, i);
    free(seen);
    return all;
}

#endif
