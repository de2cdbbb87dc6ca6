/* pool.h: memory for objects that come and go with every message. An operation takes one off a list
 * and puts it back; the heap is asked for many at once. Two kinds: a pool of objects of one size,
 * which it keeps until it is dropped, and buffers of sizes that are powers of two, of which it
 * keeps only some. */
#ifndef SK_POOL_H
#define SK_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { SK_POOL_LINE = 64 }; /* objects are whole lines of a cache */

typedef struct sk_pool {
    size_t size;
    void *free;  /* linked by their first words */
    void *slabs; /* the same way */
} sk_pool;

void sk_pool_init(sk_pool *p, size_t size);
void sk_pool_drop(sk_pool *p);
void *sk_pool_grow(sk_pool *p); /* an object, after asking the heap; NULL: out of memory */

static inline void *sk_pool_get(sk_pool *p)
{
    void *object = p->free;
    if (__builtin_expect(!object, 0))
        return sk_pool_grow(p);
    p->free = *(void **)object;
    return object;
}

static inline void sk_pool_put(sk_pool *p, void *object)
{
    *(void **)object = p->free;
    p->free = object;
}

enum { SK_BUFFERS_LEAST = 128, SK_BUFFERS_CLASSES = 24 };

typedef struct sk_buffers {
    void *free[SK_BUFFERS_CLASSES];
    size_t kept, most; /* bytes in the lists, now and at most */
} sk_buffers;

void sk_buffers_init(sk_buffers *b, size_t most);
void sk_buffers_drop(sk_buffers *b);
void *sk_buffers_get(sk_buffers *b, size_t len); /* NULL: out of memory */
void sk_buffers_put(sk_buffers *b, void *buffer, size_t len);

/* Bytes that a buffer for `len` bytes takes. */
static inline size_t sk_buffers_room(size_t len)
{
    return len <= SK_BUFFERS_LEAST
               ? SK_BUFFERS_LEAST
               : (size_t)1 << (64 - __builtin_clzll((unsigned long long)len - 1));
}

#endif
