#include "fabric/pool.h"

#include <stdlib.h>

enum { SLAB = 64 * 1024, SLAB_HEAD = SK_POOL_LINE };

void sk_pool_init(sk_pool *p, size_t size)
{
    *p = (sk_pool){.size = (size + SK_POOL_LINE - 1) / SK_POOL_LINE * SK_POOL_LINE};
}

void sk_pool_drop(sk_pool *p)
{
    for (void *slab = p->slabs, *next; slab; slab = next) {
        next = *(void **)slab;
        free(slab);
    }
    p->slabs = p->free = NULL;
}

void *sk_pool_grow(sk_pool *p)
{
    size_t count = p->size < SLAB / 8 ? (SLAB - SLAB_HEAD) / p->size : 8;
    size_t bytes = SLAB_HEAD + count * p->size;
    char *slab = aligned_alloc(SK_POOL_LINE, bytes);
    if (!slab)
        return NULL;
    *(void **)(void *)slab = p->slabs;
    p->slabs = slab;
    for (size_t i = count; i > 1; i--) /* the next to be taken lies behind this one */
        sk_pool_put(p, slab + SLAB_HEAD + (i - 1) * p->size);
    return slab + SLAB_HEAD;
}

void sk_buffers_init(sk_buffers *b, size_t most)
{
    *b = (sk_buffers){.most = most};
}

void sk_buffers_drop(sk_buffers *b)
{
    for (int i = 0; i < SK_BUFFERS_CLASSES; i++)
        for (void *at = b->free[i], *next; at; at = next) {
            next = *(void **)at;
            free(at);
        }
    *b = (sk_buffers){.most = b->most};
}

/* The list of buffers of this size, NULL when they are too long to be kept. */
static void **buffers_list(sk_buffers *b, size_t room)
{
    int i = __builtin_ctzll(room) - __builtin_ctzll(SK_BUFFERS_LEAST);
    return i < SK_BUFFERS_CLASSES ? &b->free[i] : NULL;
}

void *sk_buffers_get(sk_buffers *b, size_t len)
{
    size_t room = sk_buffers_room(len);
    void **list = buffers_list(b, room);
    if (!list || !*list)
        return malloc(room);
    void *buffer = *list;
    *list = *(void **)buffer;
    b->kept -= room;
    return buffer;
}

void sk_buffers_put(sk_buffers *b, void *buffer, size_t len)
{
    size_t room = sk_buffers_room(len);
    void **list = buffers_list(b, room);
    if (!list || b->kept + room > b->most) {
        free(buffer);
        return;
    }
    *(void **)buffer = *list;
    *list = buffer;
    b->kept += room;
}
