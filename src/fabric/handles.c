#include "fabric/handles.h"

#include <stdlib.h>

static uint64_t handles_name(const sk_handles *h, uint32_t i)
{
    return (uint64_t)h->slot[i].turn << 32 | i;
}

static int handles_grow(sk_handles *h)
{
    uint32_t size = h->size ? 2 * h->size : 64;
    sk_handles_slot *slot = size > h->size ? realloc(h->slot, size * sizeof *slot) : NULL;
    if (!slot)
        return -1;
    for (uint32_t i = h->size; i < size; i++)
        slot[i] = (sk_handles_slot){.turn = 1, .next = i + 1};
    *h = (sk_handles){.slot = slot, .size = size, .free = h->size};
    return 0;
}

uint64_t sk_handles_add(sk_handles *h, void *what)
{
    if (h->free == h->size && handles_grow(h) != 0)
        return 0;
    uint32_t i = h->free;
    h->free = h->slot[i].next;
    h->slot[i].what = what;
    return handles_name(h, i);
}

void *sk_handles_find(const sk_handles *h, uint64_t name)
{
    uint32_t i = (uint32_t)name;
    return i < h->size && handles_name(h, i) == name ? h->slot[i].what : NULL;
}

void sk_handles_remove(sk_handles *h, uint64_t name)
{
    uint32_t i = (uint32_t)name;
    if (!sk_handles_find(h, name))
        return;
    h->slot[i].what = NULL;
    if (++h->slot[i].turn == 0)
        h->slot[i].turn = 1;
    h->slot[i].next = h->free;
    h->free = i;
}

void sk_handles_drop(sk_handles *h)
{
    free(h->slot);
    *h = (sk_handles){0};
}
