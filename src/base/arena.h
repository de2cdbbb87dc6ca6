/* arena.h: memory that is freed all at once. It is zeroed and aligned to 16 bytes. */
#ifndef SK_ARENA_H
#define SK_ARENA_H

#include <stddef.h>

typedef struct sk_arena sk_arena;

sk_arena *sk_arena_new(void);                  /* NULL when out of memory */
void *sk_arena_get(sk_arena *a, size_t bytes); /* NULL when out of memory */
void *sk_arena_copy(sk_arena *a, const void *from, size_t bytes);
void sk_arena_free(sk_arena *a); /* NULL is fine */

#endif
