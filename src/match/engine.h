/* engine.h: what an engine has to offer. meet.c does the rest: lock, age, lengths, trace. An engine
 * keeps items in queues of its own and finds, for an item of one side, the oldest item of the other
 * side that fits. Out of memory is no error for an engine: it goes on with the queues it has.
 *
 * An engine may leave short queues to the matcher, which keeps them in a plain list: nothing is
 * cheaper there. A queue that gets longer than `brief` is handed over, oldest item first, and comes
 * back when nearly nothing is left of it. */
#ifndef SK_ENGINE_H
#define SK_ENGINE_H

#include "match/match.h"

typedef struct sk_engine {
    const char *name, *help;
    uint64_t brief; /* 0: the engine keeps all queues */
    /* NULL when out of memory. */
    void *(*make)(const sk_match_config *config);
    void (*drop)(void *self);
    /* The oldest queued item of `side` that fits `item`, an item of the other side; NULL: none. It
     * stays queued. Adds the items looked at to *looked. */
    sk_item *(*find)(void *self, sk_match_side side, const sk_item *item, uint64_t *looked);
    /* The same, and it is unqueued; by the side searched. NULL: find and take have to do. */
    sk_item *(*grab[SK_NSIDES])(void *self, const sk_item *item, uint64_t *looked);
    void (*glance)(void *self, const sk_item *msg); /* see sk_matcher_glance; NULL: nothing to do */
    /* Queue an item (item->side, item->age are set; it is younger than all others). */
    void (*add)(void *self, sk_item *item);
    void (*take)(void *self, sk_item *item); /* unqueue one */
    sk_item *(*next)(void *self, sk_match_side side, sk_item *after);
    /* Fill in queues and bytes. */
    void (*count)(const void *self, sk_match_stats *out);
} sk_engine;

/* By name; NULL or "": the default. NULL: there is no such engine. */
const sk_engine *sk_engine_find(const char *name);

#define ENGINE(id) extern const sk_engine sk_engine_##id;
#include "match/engines.def"
#undef ENGINE

#endif
