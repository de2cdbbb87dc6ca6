/* common_planes.h: many small counts at once, kept as bit planes: plane k holds bit k of every
 * count. Adding a row of bits to all counts, and finding the largest of a set, then cost a few
 * operations for 64 of them. Only for the files common*.c. */
#ifndef SK_COMMON_PLANES_H
#define SK_COMMON_PLANES_H

#include <stdbool.h>
#include <stdint.h>

static inline int sk_bits_words(int n)
{
    return (n + 63) / 64;
}

static inline bool sk_bits_has(const uint64_t *set, int i)
{
    return set[i >> 6] >> (i & 63) & 1;
}

static inline void sk_bits_add(uint64_t *set, int i)
{
    set[i >> 6] |= (uint64_t)1 << (i & 63);
}

static inline void sk_bits_cut(uint64_t *set, int i)
{
    set[i >> 6] &= ~((uint64_t)1 << (i & 63));
}

bool sk_bits_any(const uint64_t *set, int words);
int sk_bits_next(const uint64_t *set, int words, int from); /* first at or after `from`; -1 */

typedef struct sk_planes {
    int n, words; /* planes; words in each */
    uint64_t *at; /* words * n: the planes of a word stand side by side */
} sk_planes;

int sk_planes_for(int most); /* planes that hold counts up to `most` */

/* The sum of n rows of bits. */
void sk_planes_sum(sk_planes *p, uint64_t *const *rows, int n);
void sk_planes_put(sk_planes *p, int i, unsigned count);
unsigned sk_planes_get(const sk_planes *p, int i);

/* Which counts are at least `least` > 0. */
void sk_planes_at_least(const sk_planes *p, unsigned least, uint64_t *set);

/* Of those in word w that are in `set`: the ones with the largest count, and that count. */
uint64_t sk_planes_top(const sk_planes *p, int w, uint64_t set, unsigned *count);

#endif
