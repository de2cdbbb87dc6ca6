/* bin.h: the queues of the engines that have many (unified.c). All bins of a side are on one list,
 * so that they can be iterated. The bins of a group that may hold items are on the group's active
 * list, so that a search for any source skips empty bins. */
#ifndef SK_BIN_H
#define SK_BIN_H

#include "match/queue.h"

typedef struct sk_bin {
    sk_match_queue items;
    struct sk_bin *next;        /* of its side */
    struct sk_bin *next_active; /* of its group */
    bool active;
} sk_bin;

/* How many dedicated bins k allows with n processes: k * sqrt(n), rounded down. */
enum { SK_BIN_DEFAULT_K = 8 };
uint32_t sk_bin_cap(uint32_t k, uint32_t n);

/* The number of items that may still be added to one or several bins. item->quota is the quota that
 * an item counts against, so removing an item is the same for all bins. */
typedef uint32_t sk_quota;
#define SK_QUOTA_MAX UINT32_MAX /* unlimited, and nothing was added */

static inline void sk_bin_register(sk_bin *b, sk_bin **all)
{
    b->next = *all;
    *all = b;
}

static inline void sk_bin_add(sk_bin *b, sk_match_item *item, sk_quota *quota)
{
    sk_match_queue_push(&b->items, item);
    item->queue = b;
    item->quota = quota;
    --*quota;
}

static inline void sk_bin_remove(sk_match_item *item)
{
    sk_bin *b = item->queue;
    sk_match_queue_remove(&b->items, item);
    ++*(sk_quota *)item->quota;
}

/* Call it for every item added to a bin of the group. */
static inline void sk_bin_activate(sk_bin *b, sk_bin **group)
{
    if (!b->active) {
        b->active = true;
        b->next_active = *group;
        *group = b;
    }
}

/* The first item that matches. */
static inline sk_match_item *sk_bin_find(const sk_bin *b, sk_match_side side,
                                         const sk_match_item *item, uint64_t *traversed)
{
    return sk_match_queue_find(b->items.head, side, item, traversed);
}

/* sk_bin_find_older for a bin that is not empty. */
sk_match_item *sk_bin_search_older(const sk_bin *b, sk_match_side side, const sk_match_item *item,
                                   sk_match_item *best, uint64_t *traversed);
/* The first item that matches and is older than `best` (NULL: of any age), else `best`. Inline
 * because most bins are empty most of the time. */
static inline sk_match_item *sk_bin_find_older(const sk_bin *b, sk_match_side side,
                                               const sk_match_item *item, sk_match_item *best,
                                               uint64_t *traversed)
{
    return b->items.head ? sk_bin_search_older(b, side, item, best, traversed) : best;
}
/* The same for all active bins of a group: a search for any source. */
sk_match_item *sk_bins_find_older(sk_bin **group, sk_match_side side, const sk_match_item *item,
                                  sk_match_item *best, uint64_t *traversed);

#endif
