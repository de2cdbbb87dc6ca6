/* stats.h: the statistics of a matcher. A search is one lookup in one of the two queues. Its
 * traversals are the queued items that it compares, including the one that matches. */
#ifndef SK_MATCH_STATS_H
#define SK_MATCH_STATS_H

#include <stdint.h>
#include <stdio.h>

enum { SK_STATS_KINDS = 128, SK_STATS_SIDES = 2 };

/* The posted or the unexpected queue, for the items of one kind. */
typedef struct sk_side_stats {
    uint64_t searches;   /* of this queue */
    uint64_t traversals; /* items compared */
    uint64_t found;      /* searches that found an item */
    uint64_t added;      /* items added to this queue */
} sk_side_stats;

typedef struct sk_match_stats {
    sk_side_stats kind[SK_STATS_KINDS][SK_STATS_SIDES]; /* by kind of the searching or added item;
                                                           SK_ANY_KIND counts as 0 */
    uint64_t length[SK_STATS_SIDES];                    /* now */
    uint64_t max_length[SK_STATS_SIDES];                /* ever */
    double mean_length[SK_STATS_SIDES];                 /* over the searches of that queue */
    uint64_t queues; /* dedicated queues the engine has made, both sides together (list: 0) */
    uint64_t queues_coll[SK_STATS_SIDES], queues_p2p[SK_STATS_SIDES];
    uint64_t bytes;     /* memory of the engine, without the items */
    uint64_t contended; /* operations that had to wait for the lock */
} sk_match_stats;

/* A table; `kind_name` (may be NULL) names kinds. */
void sk_match_stats_print(const sk_match_stats *s, const char *engine,
                          const char *(*kind_name)(unsigned kind), FILE *to);

#endif
