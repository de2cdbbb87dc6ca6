/* side.h: one buffer of a call: its blocks, its memory with guards, and what it should hold after.
 */
#ifndef SIDE_H
#define SIDE_H

#include "types.h"

enum { GUARD = 64 };

typedef enum shape { S_NONE, S_ONE, S_BLOCKS, S_VBLOCKS, S_WBLOCKS } shape;

typedef struct side {
    int n; /* blocks */
    MPI_Datatype type, *types;
    MPI_Datatype absolute; /* with MPI_BOTTOM: the same at its address; else the null type */
    bool owned;            /* the types are ours to free */
    int count, *counts, *displs;
    void *buf;
    unsigned char *mem, *before, *after; /* guard, blocks, guard; as filled; as expected */
    size_t size;
} side;

/* Lay out blocks of units[i] units each; every units[i] is a multiple of `grain`. A buffer that is
 * only read may have blocks on top of each other. */
void side_make(side *s, rng *r, shape how, int unit, int n, const int *units, int grain,
               bool read_only);

/* One block of `count` elements of a type that the caller keeps. */
void side_make_plain(side *s, MPI_Datatype type, int count);

bool side_at_bottom(const side *s); /* to be called with MPI_BOTTOM */
void side_free_types(side *s);
void side_free(side *s);

/* The life of the memory in one round: fill, remember, let the host work, keep what it did and put
 * the old contents back, let the other work, compare. */
void side_remember(side *s);
void side_expect(side *s);
/* First byte that differs from what is expected, relative to the buffer's first byte; -1: none.
 * With elems >= 0 only so many elements of the (plain) block and the guards count. */
long side_differs(const side *s, int elems);

#endif
