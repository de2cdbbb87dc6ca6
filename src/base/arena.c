/* arena.c: chunks that double in size; none is freed before the arena is. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 1024, ALIGN = 16 };

typedef struct arena_chunk {
    struct arena_chunk *next;
    size_t size, used;
    _Alignas(ALIGN) char data[];
} arena_chunk;

struct sk_arena {
    arena_chunk *head;
};

sk_arena *sk_arena_new(void)
{
    return calloc(1, sizeof(sk_arena));
}

void *sk_arena_get(sk_arena *a, size_t bytes)
{
    if (bytes > (size_t)-1 - sizeof(arena_chunk) - ALIGN)
        return NULL;
    bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!a->head || a->head->size - a->head->used < bytes) {
        size_t size = a->head ? 2 * a->head->size : FIRST_CHUNK;
        if (size < bytes)
            size = bytes;
        arena_chunk *c = calloc(1, sizeof *c + size);
        if (!c)
            return NULL;
        c->next = a->head;
        c->size = size;
        a->head = c;
    }
    void *p = a->head->data + a->head->used;
    a->head->used += bytes;
    return p;
}

void *sk_arena_copy(sk_arena *a, const void *from, size_t bytes)
{
    void *p = sk_arena_get(a, bytes);
    if (p && bytes)
        memcpy(p, from, bytes);
    return p;
}

void sk_arena_free(sk_arena *a)
{
    if (!a)
        return;
    for (arena_chunk *c = a->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(a);
}
