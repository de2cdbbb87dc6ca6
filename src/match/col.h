/* col.h: the queues for items of collectives, after Ghazimirsaeed et al., "Communication-aware
 * message matching in MPI" (COL). One per side.
 *
 * The first call of a collective with new parameters (kind, size class, communicator size) uses the
 * profiling queue that all share. The items its searches looked at there, on average, are the
 * number of queues it gets at its next call; an item's source modulo that number is its queue. The
 * queues of a kind come in levels: parameters that want more queues than the last level has add a
 * level. Items go to the last level of their kind, so an earlier level holds older items, and is
 * not searched any more once it is empty.
 *
 * A kind for which the cap leaves too few queues shares the largest level that another has.
 *
 * Also kept in the profiling queue: receives from any source, and items for whose queues there is
 * no memory. It is not older than the levels, so a search that meets items in it compares ages.
 *
 * cost  about one item per search within the cap of queues    good for  calls that come again */
#ifndef SK_COL_H
#define SK_COL_H

#include "match/bin.h"
#include "match/profile.h"

typedef struct sk_col_level {
    struct sk_col_level *next; /* of the same kind, younger */
    struct sk_col_level *made; /* the one made before, of any kind */
    sk_bin *live;
    sk_scratch_bytes room;
    uint32_t nbins;
    sk_bin bins[];
} sk_col_level;

typedef struct sk_col_kind {
    sk_col_level *first, *last; /* first: the oldest that is not empty, or the last */
    sk_col_level *open;         /* the last level, for items with these parameters; NULL: ask */
    uint32_t nranks;
    uint8_t size;
} sk_col_kind;

typedef struct sk_col {
    bool adapts;      /* false: it is a list, the profiling queue */
    sk_bin profiling; /* the profiling queue */
    sk_scratch_bytes roomy;    /* items in it that are no part of a profile are counted here */
    uint32_t running; /* profiles that are not over */
    uint32_t left;    /* queues that may still be made */
    uint32_t nqueues; /* made */
    sk_bin **chain;   /* of the side */
    sk_col_level *levels;
    size_t bytes;
    sk_profiles profiles;
    sk_col_kind kinds[SK_MAX_KINDS];
} sk_col;

/* `budget`: how many queues it may make; 0: it is a list. */
void sk_col_init(sk_col *c, uint32_t budget, sk_bin **chain);
void sk_col_clear(sk_col *c);
/* The oldest item that fits; item->kind < SK_MAX_KINDS. */
sk_item *sk_col_find(sk_col *c, sk_match_side side, const sk_item *item, uint64_t *looked);
void sk_col_add(sk_col *c, sk_item *item);

#endif
