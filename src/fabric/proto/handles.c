#include "fabric/proto/handles.h"

#include <stdlib.h>

static uint64_t handle_of(const sk_handle_table *h, uint32_t i)
{
    return (uint64_t)h->slot[i].generation << 32 | i;
}

static int handles_grow(sk_handle_table *h)
{
    uint32_t size = h->size ? 2 * h->size : 64;
    sk_handle_slot *slot = size > h->size ? realloc(h->slot, size * sizeof *slot) : NULL;
    if (!slot)
        return -1;
    for (uint32_t i = h->size; i < size; i++)
        slot[i] = (sk_handle_slot){.generation = 1, .next = i + 1};
    *h = (sk_handle_table){.slot = slot, .size = size, .free = h->size};
    return 0;
}

uint64_t sk_handle_add(sk_handle_table *h, void *object)
{
    if (h->free == h->size && handles_grow(h) != 0)
        return 0;
    uint32_t i = h->free;
    h->free = h->slot[i].next;
    h->slot[i].object = object;
    return handle_of(h, i);
}

void *sk_handle_find(const sk_handle_table *h, uint64_t handle)
{
    uint32_t i = (uint32_t)handle;
    return i < h->size && handle_of(h, i) == handle ? h->slot[i].object : NULL;
}

void sk_handle_remove(sk_handle_table *h, uint64_t handle)
{
    uint32_t i = (uint32_t)handle;
    if (!sk_handle_find(h, handle))
        return;
    h->slot[i].object = NULL;
    if (++h->slot[i].generation == 0)
        h->slot[i].generation = 1;
    h->slot[i].next = h->free;
    h->free = i;
}

void sk_handle_table_free(sk_handle_table *h)
{
    free(h->slot);
    *h = (sk_handle_table){0};
}
