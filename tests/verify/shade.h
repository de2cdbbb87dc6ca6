/* shade.h: what each byte carries along so that its history can be read from it.
 *
 * A byte starts with a shade of its own; moving a byte moves the shade; a reduction joins two.
 * Shades have 32 bits. Elements that are reduced have at least 8 bytes, and each byte has shades of
 * its own, so a wrong reduction stays hidden only if 8 shades of 32 bits are equal by chance. */
#ifndef VERIFY_SHADE_H
#define VERIFY_SHADE_H

#include <stdint.h>

typedef uint32_t shade;

typedef enum algebra {
    SHADE_PLACE,  /* where the byte stood at the start; cannot be joined */
    SHADE_SUM,    /* commutes and associates: which bytes took part, and how often */
    SHADE_CONCAT, /* associates only: which bytes took part, in which order */
    SHADE_TREE,   /* neither: the whole expression, with its brackets */
} algebra;

/* Prime, so that random affine maps x -> ax + b over it rarely collide; a and b share one shade. */
enum { SHADE_PRIME = 65521 };

static inline uint64_t shade_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The shade of byte `index` at the start. */
static inline shade shade_start(algebra alg, uint64_t salt, int64_t index)
{
    if (alg == SHADE_PLACE)
        return (shade)index + 1;
    shade h = (shade)shade_mix(((uint64_t)index + 1) * 0x9e3779b97f4a7c15u ^ salt);
    if (alg != SHADE_CONCAT)
        return h;
    shade a = 1 + (h >> 16) % (SHADE_PRIME - 1), b = (h & UINT16_MAX) % SHADE_PRIME;
    return a << 16 | b;
}

/* Composition of maps: it associates, and two random ones do not commute. */
static inline shade shade_compose(shade l, shade r)
{
    uint64_t la = l >> 16, lb = l & UINT16_MAX, ra = r >> 16, rb = r & UINT16_MAX;
    return (shade)(la * ra % SHADE_PRIME << 16 | (la * rb + lb) % SHADE_PRIME);
}

/* left op right */
static inline shade shade_join(algebra alg, shade left, shade right)
{
    switch (alg) {
    case SHADE_SUM:
        return left + right;
    case SHADE_CONCAT:
        return shade_compose(left, right);
    case SHADE_TREE:
        return (shade)shade_mix(shade_mix(left + 0x9e3779b97f4a7c15u) + right);
    case SHADE_PLACE:
        break;
    }
    return ~(shade)0;
}

#endif
