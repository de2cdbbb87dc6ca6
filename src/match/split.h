/* split.h: an engine with separate queues for collectives (col.h) and point-to-point (pnp.h), on
 * each side: the paper's unified design. Engines of this family differ only in how many queues the
 * two parts may make; a part that may make none is a list.
 *
 * The cap: on each side, collectives have at most kc * sqrt(n) dedicated queues and point-to-point
 * at most kp * sqrt(n), rounded down, so a side never has more than k * sqrt(n), k = kc + kp. It is
 * per side as in the paper, whose applications reach it with their posted receives alone. The
 * profiling queue and the shared queues of pnp.h are not dedicated and not counted; there are fewer
 * shared queues than dedicated ones, plus one.
 *
 * Receives that may fit several kinds wait in a queue of their own that every message looks at;
 * searches for them go through all queues and compare ages. */
#ifndef SK_SPLIT_H
#define SK_SPLIT_H

#include "match/engine.h"

void *sk_split_new(const sk_match_config *config, bool col, bool pnp);
void sk_split_drop(void *self);
sk_item *sk_split_find(void *self, sk_match_side side, const sk_item *item, uint64_t *looked);
void sk_split_add(void *self, sk_item *item);
void sk_split_take(void *self, sk_item *item);
sk_item *sk_split_next(void *self, sk_match_side side, sk_item *after);
void sk_split_count(const void *self, sk_match_stats *out);

/* How many queues k allows with n processes: k * sqrt(n), rounded down. */
uint32_t sk_split_cap(uint32_t k, uint32_t n);

/* Queues up to this length stay with the matcher: going through such a list takes fewer
 * instructions than finding the right queue. */
enum { SK_SPLIT_BRIEF = 32 };

/* All of an engine but its name, help and make. */
#define SK_SPLIT_PARTS                                                                             \
    .brief = SK_SPLIT_BRIEF, .drop = sk_split_drop, .find = sk_split_find, .add = sk_split_add,    \
    .take = sk_split_take, .next = sk_split_next, .count = sk_split_count

#endif
