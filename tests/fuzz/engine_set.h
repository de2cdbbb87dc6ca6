/* engine_set.h: runs the same operations on all engines. Every engine has its own array of items;
 * item number i is the same item in all of them, so the results can be compared. All must be equal
 * to those of the first engine, `list`. */
#ifndef ENGINE_SET_H
#define ENGINE_SET_H

#include <stdio.h>
#include <stdlib.h>

#include "match/matcher.h"

enum { SET_MAX_ENGINES = 16, SET_NONE = -1, SET_DIFFERENT = -2 };

typedef enum item_state { ITEM_NEW, ITEM_FREE, ITEM_RECV, ITEM_MSG } item_state;

typedef struct engine_set {
    int nengines, nitems;
    sk_matcher *matcher[SET_MAX_ENGINES];
    sk_match_item *items[SET_MAX_ENGINES];
    uint8_t *state;
    int *vacant; /* numbers of free items, the first `nvacant` */
    int nvacant;
    int depth[SK_NSIDES];
    char wrong[256]; /* what differed */
} engine_set;

static inline void engine_set_free(engine_set *w)
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
static inline engine_set *engine_set_new(int nitems, const sk_match_config *config)
{
    engine_set *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->nitems = w->nvacant = nitems;
    w->state = calloc((size_t)nitems, sizeof *w->state);
    w->vacant = calloc((size_t)nitems, sizeof *w->vacant);
    bool ok = w->state && w->vacant;
    for (int i = 0; ok && i < nitems; i++)
        w->vacant[i] = nitems - 1 - i;
    for (int e = 0; ok && e < SET_MAX_ENGINES && sk_engine_name(e); e++) {
        w->nengines++;
        w->items[e] = calloc((size_t)nitems, sizeof *w->items[e]);
        ok = w->items[e] && sk_matcher_new(sk_engine_name(e), config, &w->matcher[e]) == SK_OK;
    }
    if (ok)
        return w;
    engine_set_free(w);
    return NULL;
}

/* Compares the result of engine `e` with `all`, the result so far. */
static inline int engine_set_compare(engine_set *w, int e, const sk_match_item *answer, int all,
                                     const char *what, const sk_match_item *asked)
{
    int number = answer ? (int)(answer - w->items[e]) : SET_NONE;
    if (e == 0 || all == SET_DIFFERENT || number == all)
        return e == 0 ? number : all;
    snprintf(w->wrong, sizeof w->wrong,
             "%s: %s tag %#llx ignore %#llx source %u kind %u: item %d, but %s says %d",
             sk_engine_name(e), what, (unsigned long long)asked->tag,
             (unsigned long long)asked->ignore, asked->source, asked->kind, number,
             sk_engine_name(0), all);
    return SET_DIFFERENT;
}

static inline void engine_set_vacate(engine_set *w, int number)
{
    w->depth[w->state[number] == ITEM_RECV ? SK_POSTED : SK_UNEXPECTED]--;
    w->state[number] = ITEM_FREE;
    w->vacant[w->nvacant++] = number;
}

/* Posts a receive or delivers a message. Returns the number of the matching item, SET_NONE or
 * SET_DIFFERENT. With `unequal`, the engines get different hints. There must be a vacant item. */
static inline int engine_set_match(engine_set *w, const sk_match_item *like, sk_match_side side,
                                   bool unequal)
{
    int number = w->vacant[--w->nvacant], all = SET_NONE;
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
        all = engine_set_compare(w, e, answer, all, side == SK_POSTED ? "post" : "deliver", like);
    }
    w->state[number] = side == SK_POSTED ? ITEM_RECV : ITEM_MSG;
    w->depth[side]++;
    if (all >= 0) {
        engine_set_vacate(w, number);
        engine_set_vacate(w, all);
    }
    return all;
}

/* Returns the number of the message found; `claim` removes it from its queue. */
static inline int engine_set_probe(engine_set *w, const sk_match_item *recv, bool claim)
{
    int all = SET_NONE;
    for (int e = 0; e < w->nengines; e++)
        all = engine_set_compare(w, e, sk_matcher_probe(w->matcher[e], recv), all, "probe", recv);
    if (all >= 0 && claim) {
        for (int e = 0; e < w->nengines; e++)
            sk_matcher_claim(w->matcher[e], &w->items[e][all]);
        engine_set_vacate(w, all);
    }
    return all;
}

/* Cancels item `number`, which may have matched already. Returns SET_NONE or SET_DIFFERENT. */
static inline int engine_set_cancel(engine_set *w, int number)
{
    if (w->state[number] == ITEM_NEW)
        return SET_NONE;
    bool queued = w->state[number] == ITEM_RECV;
    for (int e = 0; e < w->nengines; e++) {
        if (sk_matcher_cancel(w->matcher[e], &w->items[e][number]) == queued)
            continue;
        snprintf(w->wrong, sizeof w->wrong, "%s: cancel of item %d", sk_engine_name(e), number);
        return SET_DIFFERENT;
    }
    if (queued)
        engine_set_vacate(w, number);
    return SET_NONE;
}

/* Iterates over both queues of every engine and, with `remove`, removes all items. Each queued item
 * must appear exactly once. */
static inline int engine_set_iterate(engine_set *w, bool remove)
{
    uint8_t *seen = calloc((size_t)w->nitems, 1);
    int all = seen ? SET_NONE : SET_DIFFERENT;
    for (int e = 0; e < w->nengines * SK_NSIDES && all != SET_DIFFERENT; e++) {
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
            count += fresh && w->state[number] == (side == SK_POSTED ? ITEM_RECV : ITEM_MSG);
            if (remove && side == SK_POSTED)
                sk_matcher_cancel(m, item);
            else if (remove)
                sk_matcher_claim(m, item);
            if (!fresh || count > w->depth[side])
                break;
        }
        if (count != w->depth[side]) {
            snprintf(w->wrong, sizeof w->wrong, "%s: iteration of side %d met %d of %d items",
                     sk_matcher_engine(m), side, count, w->depth[side]);
            all = SET_DIFFERENT;
        }
    }
    for (int i = 0; remove && i < w->nitems; i++)
        if (w->state[i] == ITEM_RECV || w->state[i] == ITEM_MSG)
            engine_set_vacate(w, i);
    free(seen);
    return all;
}

#endif
