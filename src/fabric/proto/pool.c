#include "fabric/proto/pool.h"

#include <stdlib.h>

enum { SLAB = 64 * 1024, SLAB_HEAD = SK_POOL_LINE };

void sk_object_pool_init(sk_object_pool *p, size_t size)
{
    *p = (sk_object_pool){.size = (size + SK_POOL_LINE - 1) / SK_POOL_LINE * SK_POOL_LINE};
}

void sk_object_pool_free(sk_object_pool *p)
{
    for (void *slab = p->slabs, *next; slab; slab = next) {
        next = *(void **)slab;
        free(slab);
    }
    p->slabs = p->free = NULL;
}

void *sk_object_pool_grow(sk_object_pool *p)
{
    size_t count = p->size < SLAB / 8 ? (SLAB - SLAB_HEAD) / p->size : 8;
    size_t bytes = SLAB_HEAD + count * p->size;
    char *slab = aligned_alloc(SK_POOL_LINE, bytes);
    if (!slab)
        return NULL;
    *(void **)(void *)slab = p->slabs;
    p->slabs = slab;
    for (size_t i = count; i > 1; i--) /* objects are handed out in address order */
        sk_object_pool_put(p, slab + SLAB_HEAD + (i - 1) * p->size);
    return slab + SLAB_HEAD;
}

void sk_buffer_cache_init(sk_buffer_cache *b, size_t limit)
{
    *b = (sk_buffer_cache){.limit = limit};
}

void sk_buffer_cache_free(sk_buffer_cache *b)
{
    for (int i = 0; i < SK_BUFFER_CLASSES; i++)
        for (void *at = b->free[i], *next; at; at = next) {
            next = *(void **)at;
            free(at);
        }
    *b = (sk_buffer_cache){.limit = b->limit};
}

/* The free list for buffers of this size; NULL: too long to be cached. */
static void **buffers_list(sk_buffer_cache *b, size_t size)
{
    int i = __builtin_ctzll(size) - __builtin_ctzll(SK_BUFFER_MIN);
    return i < SK_BUFFER_CLASSES ? &b->free[i] : NULL;
}

void *sk_buffer_cache_get(sk_buffer_cache *b, size_t len)
{
    size_t size = sk_buffer_size(len);
    void **list = buffers_list(b, size);
    if (!list || !*list)
        return malloc(size);
    void *buffer = *list;
    *list = *(void **)buffer;
    b->cached -= size;
    return buffer;
}

void sk_buffer_cache_put(sk_buffer_cache *b, void *buffer, size_t len)
{
    size_t size = sk_buffer_size(len);
    void **list = buffers_list(b, size);
    if (!list || b->cached + size > b->limit) {
        free(buffer);
        return;
    }
    *(void **)buffer = *list;
    *list = buffer;
    b->cached += size;
}
