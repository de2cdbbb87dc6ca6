/* reduction.h: operations with the types they work on, and values for which every order of
 * evaluation gives the same bits. */
#ifndef REDUCTION_H
#define REDUCTION_H

#include "testlib.h"

typedef struct reduction {
    MPI_Op op;
    MPI_Datatype type;
    MPI_Op plain_op; /* the same on a type without holes */
    MPI_Datatype plain_type;
    bool user_op, user_type, user_plain; /* ours to free */
    bool padded; /* the bytes between the parts of an element are anybody's */
    int values;  /* how to fill: see reduction.c */
    char name[40];
} reduction;

/* Long columns only fit vectors of at most this many elements. */
enum { REDUCTION_COLUMN = 2048 };

void reduction_make(reduction *d, rng *r, int elems);
void reduction_free(reduction *d); /* as soon as no call needs the handles */
void reduction_fill(const reduction *d, rng *r, void *mem, size_t bytes);

#endif
