/* col.h: the queues for items of collectives: COL of Ghazimirsaeed et al., "Communication-aware
 * message matching in MPI". One per side.
 *
 * The first call of a collective with new parameters (kind, size class, communicator size) uses the
 * profiling queue, which all share. The average number of items that its searches traverse there is
 * the number of queues it gets at its next call. An item's source modulo that number selects its
 * queue. The queues of a kind come in levels: parameters that want more queues than the last level
 * has add a level. Items go to the last level of their kind, so an earlier level holds older items,
 * and it is skipped once it is empty.
 *
 * If the cap leaves too few queues for a kind, the kind shares the largest level of another kind.
 *
 * The profiling queue also holds receives from any source, and items for whose queues there is no
 * memory. Its items may be older or younger than those of the levels, so a search that finds an
 * item in it compares sequence numbers.
 *
 *   cost      about one item per search, within the cap of queues
 *   good for  collective calls that are repeated */
#ifndef SK_COL_H
#define SK_COL_H

#include "match/engine/bin.h"

typedef struct sk_col_level sk_col_level;
typedef struct sk_col_profile sk_col_profile;

typedef struct sk_col_kind {
    sk_col_level *first, *last; /* first: the oldest that is not empty, or the last */
    sk_col_level *open;         /* the last level, for items with these parameters; NULL: look up */
    uint32_t nranks;
    uint8_t size;
} sk_col_kind;

typedef struct sk_col {
    bool adaptive;     /* false: only the profiling queue is used, as a plain list */
    sk_bin profiling;  /* the profiling queue */
    sk_quota no_limit; /* quota of its items that belong to no profile */
    uint32_t running;  /* profiles that are not finished */
    uint32_t left;     /* queues that may still be made */
    uint32_t nqueues;  /* queues made */
    sk_bin **all;      /* bins of the side */
    sk_col_level *levels;
    size_t level_bytes;
    sk_col_profile **profiles; /* hash table with open addressing; its size is a power of two */
    uint32_t nbuckets, nprofiles;
    sk_col_kind kinds[SK_MAX_KINDS];
} sk_col;

/* `budget`: how many queues it may make; 0: it is a list. */
void sk_col_init(sk_col *c, uint32_t budget, sk_bin **all);
void sk_col_destroy(sk_col *c);
/* The oldest item that matches; item->kind < SK_MAX_KINDS. */
sk_match_item *sk_col_find(sk_col *c, sk_match_side side, const sk_match_item *item,
                           uint64_t *traversed);
void sk_col_add(sk_col *c, sk_match_item *item);
size_t sk_col_bytes(const sk_col *c); /* memory beyond the struct */

#endif
