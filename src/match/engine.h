/* engine.h: the interface of a matching engine. An engine keeps items in queues of its own. Given
 * an item of one side, it finds the oldest matching item of the other side. matcher.c does the
 * rest: lock, sequence numbers, lengths, trace. Out of memory is no error for an engine: it goes on
 * with the queues it has.
 *
 * An engine may leave short queues to the matcher, which keeps them in a plain list: nothing is
 * cheaper there. A queue that grows beyond `short_limit` is handed over to the engine, oldest item
 * first. The matcher takes it back when only a few items are left. */
#ifndef SK_ENGINE_H
#define SK_ENGINE_H

#include "match/matcher.h"

typedef struct sk_engine {
    const char *name, *help;
    uint64_t short_limit; /* 0: the engine keeps all queues */
    /* NULL: out of memory. */
    void *(*create)(const sk_match_config *config);
    void (*destroy)(void *self);
    /* Returns the oldest queued item of `side` that matches `item`, an item of the other side;
     * NULL: none. The item found stays queued. Adds the number of items compared to *traversed. */
    sk_match_item *(*find)(void *self, sk_match_side side, const sk_match_item *item,
                           uint64_t *traversed);
    /* find and remove in one, by the side searched. NULL: the matcher calls find, then remove. */
    sk_match_item *(*extract[SK_NSIDES])(void *self, const sk_match_item *item,
                                         uint64_t *traversed);
    void (*prefetch)(void *self,
                     const sk_match_item *msg); /* see sk_matcher_prefetch; may be NULL */
    /* Queues an item. item->side and item->seq are set; it is younger than all others. */
    void (*add)(void *self, sk_match_item *item);
    void (*remove)(void *self, sk_match_item *item);
    sk_match_item *(*next)(void *self, sk_match_side side, sk_match_item *after);
    /* Fills in the numbers of queues and bytes. */
    void (*stats)(const void *self, sk_match_stats *out);
} sk_engine;

#define ENGINE(id) extern const sk_engine sk_engine_##id;
#include "match/engines.def"
#undef ENGINE

#endif
