/* random.h: numbers that are the same everywhere for the same seed (splitmix64). */
#ifndef SK_RANDOM_H
#define SK_RANDOM_H

#include <stdint.h>

static inline uint64_t sk_random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline uint32_t sk_random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((sk_random_next(state) >> 32) * n >> 32);
}

static inline double sk_random_share(uint64_t *state) /* from 0 to below 1 */
{
    return (double)(sk_random_next(state) >> 11) * 0x1p-53;
}

static inline void sk_random_shuffle(uint64_t *state, uint32_t *v, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = sk_random_below(state, i), t = v[i - 1];
        v[i - 1] = v[k];
        v[k] = t;
    }
}

#endif
