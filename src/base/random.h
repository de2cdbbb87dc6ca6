/* random.h: numbers that are the same everywhere for the same seed: SplitMix64 (Steele, Lea, Flood
 * 2014). */
#ifndef SK_BASE_RANDOM_H
#define SK_BASE_RANDOM_H

#include <stdint.h>

/* Every bit of x moves every bit of the result. */
static inline uint64_t sk_random_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t sk_random_next(uint64_t *state)
{
    return sk_random_mix(*state += 0x9e3779b97f4a7c15u);
}

#endif
