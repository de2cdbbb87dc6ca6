/* handles.h: handles for objects that peers name in their packets. A handle from outside is looked
 * up here and never used as an address. A handle that was never given out, or was removed, finds
 * nothing. */
#ifndef SK_HANDLES_H
#define SK_HANDLES_H

#include <stdint.h>

typedef struct sk_handle_slot {
    void *object;        /* NULL: free */
    uint32_t generation; /* grows with every use of the slot, so that old handles become invalid */
    uint32_t next;       /* next free slot */
} sk_handle_slot;

typedef struct sk_handle_table {
    sk_handle_slot *slot;
    uint32_t size, free; /* free == size: no free slot */
} sk_handle_table;

uint64_t sk_handle_add(sk_handle_table *h, void *object); /* 0: out of memory */
void *sk_handle_find(const sk_handle_table *h, uint64_t handle);
void sk_handle_remove(sk_handle_table *h, uint64_t handle);
void sk_handle_table_free(sk_handle_table *h);

#endif
