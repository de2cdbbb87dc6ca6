#include "shade.h"

/* Prime, so that random affine maps x -> ax + b over it rarely collide; a and b share one shade. */
static const uint64_t PRIME = 2147483647;

uint64_t shade_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

shade shade_start(algebra alg, uint64_t salt, int64_t index)
{
    if (alg == SHADE_PLACE)
        return (shade)index + 1;
    uint64_t h = shade_mix(((uint64_t)index + 1) * 0x9e3779b97f4a7c15u ^ salt);
    if (alg != SHADE_CONCAT)
        return h;
    uint64_t a = 1 + (h >> 32) % (PRIME - 1), b = (h & UINT32_MAX) % PRIME;
    return a << 32 | b;
}

/* Composition of maps: it associates, and two random ones do not commute. */
static shade compose(shade l, shade r)
{
    uint64_t la = l >> 32, lb = l & UINT32_MAX, ra = r >> 32, rb = r & UINT32_MAX;
    return la * ra % PRIME << 32 | (la * rb + lb) % PRIME;
}

shade shade_join(algebra alg, shade left, shade right)
{
    switch (alg) {
    case SHADE_SUM:
        return left + right;
    case SHADE_CONCAT:
        return compose(left, right);
    case SHADE_TREE:
        return shade_mix(shade_mix(left) + right);
    case SHADE_PLACE:
        break;
    }
    return ~(shade)0;
}
