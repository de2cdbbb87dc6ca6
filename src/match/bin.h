/* bin.h: the queues of the engines that have many. All bins of a side are chained, so that they can
 * be gone through; those of a group that may hold items are on its list of live bins, so that a
 * search for any source passes over the empty ones. */
#ifndef SK_BIN_H
#define SK_BIN_H

#include "match/queue.h"

typedef struct sk_bin {
    sk_queue items;
    struct sk_bin *chain;     /* the next of its side */
    struct sk_bin *next_live; /* of its group */
    bool live;
} sk_bin;

/* How many more items may come. item->more is the one an item counts for, so that taking an item
 * off is the same for all bins. */
typedef uint32_t sk_scratch_bytes;
#define SK_ROOMY UINT32_MAX /* nothing is there, and nothing limits what may come */

static inline void sk_bin_chain(sk_bin *b, sk_bin **chain)
{
    b->chain = *chain;
    *chain = b;
}

static inline void sk_bin_put(sk_bin *b, sk_item *item, sk_scratch_bytes *room)
{
    sk_queue_push(&b->items, item);
    item->queue = b;
    item->more = room;
    --*room;
}

static inline void sk_bin_take(sk_item *item)
{
    sk_bin *b = item->queue;
    sk_queue_remove(&b->items, item);
    ++*(sk_scratch_bytes *)item->more;
}

/* Call it for every item put in a bin of the group. */
static inline void sk_bin_enliven(sk_bin *b, sk_bin **group)
{
    if (!b->live) {
        b->live = true;
        b->next_live = *group;
        *group = b;
    }
}

/* The first item that fits. */
static inline sk_item *sk_bin_find(const sk_bin *b, sk_match_side side, const sk_item *item,
                                   uint64_t *looked)
{
    return sk_queue_find(b->items.head, side, item, looked);
}

/* The first item that fits and is older than `best` (NULL: any age), or else `best`. Most bins are
 * empty most of the time. */
sk_item *sk_bin_search_older(const sk_bin *b, sk_match_side side, const sk_item *item,
                             sk_item *best, uint64_t *looked);
static inline sk_item *sk_bin_older(const sk_bin *b, sk_match_side side, const sk_item *item,
                                    sk_item *best, uint64_t *looked)
{
    return b->items.head ? sk_bin_search_older(b, side, item, best, looked) : best;
}
/* The same for all live bins of a group: what a search for any source needs. */
sk_item *sk_bins_older(sk_bin **group, sk_match_side side, const sk_item *item, sk_item *best,
                       uint64_t *looked);

#endif
