/* pool.h: memory for objects that come and go with every message. An operation takes an object from
 * a free list and puts it back; the heap is asked for many at a time. There are two kinds: a pool
 * of objects of one size, which keeps its memory until it is freed, and a cache of buffers whose
 * sizes are powers of two, which keeps a limited number of bytes. */
#ifndef SK_POOL_H
#define SK_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { SK_POOL_LINE = 64 }; /* objects take whole cache lines */

typedef struct sk_object_pool {
    size_t size;
    void *free;  /* linked by the first word of each object */
    void *slabs; /* linked the same way */
} sk_object_pool;

void sk_object_pool_init(sk_object_pool *p, size_t size);
void sk_object_pool_free(sk_object_pool *p);
void *sk_object_pool_grow(sk_object_pool *p); /* an object of a new slab; NULL: out of memory */

static inline void *sk_object_pool_get(sk_object_pool *p)
{
    void *object = p->free;
    if (__builtin_expect(!object, 0))
        return sk_object_pool_grow(p);
    p->free = *(void **)object;
    return object;
}

static inline void sk_object_pool_put(sk_object_pool *p, void *object)
{
    *(void **)object = p->free;
    p->free = object;
}

enum { SK_BUFFER_MIN = 128, SK_BUFFER_CLASSES = 24 };

typedef struct sk_buffer_cache {
    void *free[SK_BUFFER_CLASSES];
    size_t cached, limit; /* bytes in the free lists, now and at most */
} sk_buffer_cache;

void sk_buffer_cache_init(sk_buffer_cache *b, size_t limit);
void sk_buffer_cache_free(sk_buffer_cache *b);
void *sk_buffer_cache_get(sk_buffer_cache *b, size_t len); /* NULL: out of memory */
void sk_buffer_cache_put(sk_buffer_cache *b, void *buffer, size_t len);

/* Bytes that a buffer for `len` bytes takes. */
static inline size_t sk_buffer_size(size_t len)
{
    return len <= SK_BUFFER_MIN ? SK_BUFFER_MIN
                                : (size_t)1 << (64 - __builtin_clzll((unsigned long long)len - 1));
}

#endif
