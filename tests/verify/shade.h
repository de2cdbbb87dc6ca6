/* shade.h: what each byte carries along so that its history can be read from it.
 *
 * A byte starts with a shade of its own; moving a byte moves the shade; a reduction joins two. */
#ifndef VERIFY_SHADE_H
#define VERIFY_SHADE_H

#include <stdint.h>

typedef uint64_t shade;

typedef enum algebra {
    SHADE_PLACE,  /* where the byte stood at the start; cannot be joined */
    SHADE_SUM,    /* commutes and associates: which bytes took part, and how often */
    SHADE_CONCAT, /* associates only: which bytes took part, in which order */
    SHADE_TREE,   /* neither: the whole expression, with its brackets */
} algebra;

/* The shade of byte `index` at the start. */
shade shade_start(algebra alg, uint64_t salt, int64_t index);

/* left op right */
shade shade_join(algebra alg, shade left, shade right);

uint64_t shade_mix(uint64_t x);

#endif
