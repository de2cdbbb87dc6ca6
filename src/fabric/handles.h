/* handles.h: names for objects that others tell us back. A name that comes from outside is looked
 * up here and never taken for an address: one that was not given, or not any more, finds nothing.
 */
#ifndef SK_HANDLES_H
#define SK_HANDLES_H

#include <stdint.h>

typedef struct sk_handles_slot {
    void *what;    /* NULL: free */
    uint32_t turn; /* grows with every use, so that old names are no longer good */
    uint32_t next; /* the next free one */
} sk_handles_slot;

typedef struct sk_handles {
    sk_handles_slot *slot;
    uint32_t size, free; /* free == size: none */
} sk_handles;

uint64_t sk_handles_add(sk_handles *h, void *what); /* never 0, but when out of memory */
void *sk_handles_find(const sk_handles *h, uint64_t name);
void sk_handles_remove(sk_handles *h, uint64_t name);
void sk_handles_drop(sk_handles *h);

#endif
