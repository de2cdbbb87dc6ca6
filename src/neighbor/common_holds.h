/* common_holds.h: who holds which blocks of one target. At first every source holds its own; when
 * friends combine, one of them holds a bundle. Only for the files common*.c. */
#ifndef SK_COMMON_HOLDS_H
#define SK_COMMON_HOLDS_H

#include "base/arena.h"
#include "neighbor/pattern.h"

enum { SK_MOST_FRIENDS = 64 }; /* members of a group */

typedef struct sk_holder {
    int rank, n;
    const int *src;
} sk_holder;

typedef struct sk_holds {
    int n;
    sk_holder *holder; /* by holder, ascending, once sorted */
} sk_holds;

/* Each source its own; the list must stay. */
sk_status sk_holds_first(sk_holds *h, sk_arena *a, const int *sources, int n);
sk_status sk_holds_room(sk_holds *h, sk_arena *a, int n); /* none yet, room for n bundles */

/* One more: what the members hold in `from`, now held by `holder`. */
sk_status sk_holds_join(sk_holds *h, sk_arena *a, int holder, const sk_holds *from,
                        const int *member, int n);
void sk_holds_sort(sk_holds *h);
const sk_holder *sk_holds_find(const sk_holds *h, int holder); /* NULL: it holds none */

/* As numbers, in a message. The words are the caller's to free; `head` stands before them. */
sk_status sk_holds_pack(const sk_holds *h, int32_t head, int32_t **words, size_t *n);
sk_status sk_holds_unpack(sk_holds *h, sk_arena *a, int nranks, const int32_t *words, size_t n);

#endif
