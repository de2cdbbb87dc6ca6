/* types.h: many datatypes of one signature. */
#ifndef TYPES_H
#define TYPES_H

#include "testlib.h"

/* What a signature is made of; a unit is one of it. */
enum { NUNITS = 7 };
const char *unit_name(int unit);
bool unit_is_mixed(int unit); /* of several basic types */

/* A committed type of `units` units in a random layout: holes, odd extents, lower bounds on either
 * side of zero, blocks in memory in another order than in the type. Elements of it laid next to
 * each other never overlap, if there are at most `slots` of them. */
MPI_Datatype type_make(rng *r, int unit, int units, int slots);

/* Contiguous or with holes, the same on all ranks: what both hosts' own collectives can do. */
MPI_Datatype type_make_tame(int unit, int units);

/* The same type, for a buffer at `at`, to be used with MPI_BOTTOM. */
MPI_Datatype type_absolute(MPI_Datatype type, void *at);

/* A committed type of no units at all, which may still have an extent. */
MPI_Datatype type_empty(rng *r);

/* MPI_Pack and MPI_Unpack on MPI_COMM_SELF. Data of zero bytes never reaches the host: MPICH 4.0.2
 * divides by the size of the type, which traps on x86-64. */
void type_pack(const void *from, int count, MPI_Datatype type, void *bytes, int size, int *at);
void type_unpack(const void *bytes, int size, int *at, void *to, int count, MPI_Datatype type);

#endif
