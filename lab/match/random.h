/* random.h: draws from the numbers of base/random.h. */
#ifndef SK_LAB_RANDOM_H
#define SK_LAB_RANDOM_H

#include "base/random.h"

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
