/* types.c: see types.h. Every maker lays `n` units of type `u`, each `step` bytes long in memory.
 * The order of the units in the type is always the order of the signature. */
#include "types.h"

#include <stdlib.h>

static const char *const unit_names[NUNITS] = {"byte",       "short",   "int",   "double",
                                               "double_int", "3 chars", "record"};

const char *unit_name(int unit)
{
    return unit_names[unit];
}

bool unit_is_mixed(int unit)
{
    return unit == 4 || unit == NUNITS - 1;
}

/* {int, char, double} in one of two memory orders: one signature, two layouts. */
static MPI_Datatype make_record(bool reordered)
{
    MPI_Datatype t, parts[3] = {MPI_INT, MPI_CHAR, MPI_DOUBLE};
    int len[3] = {1, 1, 1};
    MPI_Aint straight[3] = {0, 4, 8}, reversed[3] = {12, 9, 0};
    MPI_Type_create_struct(3, len, reordered ? reversed : straight, parts, &t);
    return t;
}

static MPI_Datatype make_unit(rng *r, int unit)
{
    const MPI_Datatype base[] = {MPI_BYTE,   MPI_SHORT,      MPI_INT,
                                 MPI_DOUBLE, MPI_DOUBLE_INT, MPI_CHAR};
    if (unit == NUNITS - 1)
        return make_record(rng_chance(r, 50));
    MPI_Datatype t;
    MPI_Type_contiguous(unit == NUNITS - 2 ? 3 : 1, base[unit], &t);
    return t;
}

static MPI_Aint extent_of(MPI_Datatype t)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(t, &lb, &extent);
    return extent;
}

/* Give the type these bounds and forget the old one. */
static MPI_Datatype resized(MPI_Datatype t, MPI_Aint lb, MPI_Aint extent)
{
    MPI_Datatype to;
    MPI_Type_create_resized(t, lb, extent, &to);
    MPI_Type_free(&t);
    return to;
}

static MPI_Datatype contiguous(MPI_Datatype u, int n)
{
    MPI_Datatype t;
    MPI_Type_contiguous(n, u, &t);
    return t;
}

static MPI_Datatype with_holes(rng *r, MPI_Datatype u, int n)
{
    MPI_Datatype t;
    int len = n;
    for (int d = 2; d <= n; d++)
        if (n % d == 0 && rng_chance(r, 50))
            len = n / d;
    MPI_Type_vector(n / len, len, len + 1 + rng_below(r, 3), u, &t);
    return t;
}

static MPI_Datatype padded(rng *r, MPI_Datatype u, int n, MPI_Aint step)
{
    return resized(contiguous(u, n), 0, step * (n + 1 + rng_below(r, 3)));
}

/* A column of a matrix with `slots` columns: the next element starts one unit on, inside this one.
 */
static MPI_Datatype column(rng *r, MPI_Datatype u, int n, MPI_Aint step, int slots)
{
    MPI_Datatype t;
    MPI_Type_vector(n, 1, slots + rng_below(r, 3), u, &t);
    return resized(t, 0, step);
}

/* Data away from the address given, before or after it, with bounds of either kind. */
static MPI_Datatype displaced(rng *r, MPI_Datatype u, int n, MPI_Aint step)
{
    MPI_Datatype t;
    MPI_Aint at = step * (rng_below(r, 9) - 4);
    MPI_Type_create_hindexed(1, &n, &at, u, &t);
    if (rng_chance(r, 50))
        return t;
    return resized(t, step * (rng_below(r, 5) - 2), step * (n + rng_below(r, 3)));
}

/* Units one by one at places in any order; by blocks of a struct when `mixed`. */
static MPI_Datatype permuted(rng *r, MPI_Datatype u, int n, MPI_Aint step, bool mixed)
{
    int *position = must_alloc((size_t)n * sizeof *position),
        *len = must_alloc((size_t)n * sizeof *len);
    MPI_Aint *at = must_alloc((size_t)n * sizeof *at);
    MPI_Datatype t, *types = must_alloc((size_t)n * sizeof *types);
    int gap = rng_below(r, 2);
    for (int i = 0; i < n; i++)
        position[i] = i;
    rng_shuffle(r, position, n);
    for (int i = 0; i < n; i++) {
        len[i] = 1;
        at[i] = step * position[i] * (1 + gap);
        types[i] = u;
    }
    if (mixed)
        MPI_Type_create_struct(n, len, at, types, &t);
    else
        MPI_Type_create_hindexed(n, len, at, u, &t);
    free(position);
    free(len);
    free(at);
    free(types);
    return t;
}

MPI_Datatype type_make(rng *r, int unit, int units, int slots)
{
    MPI_Datatype u = make_unit(r, unit), t;
    MPI_Aint step = extent_of(u);
    switch (rng_below(r, 8)) {
    case 0:
        t = with_holes(r, u, units);
        break;
    case 1:
        t = padded(r, u, units, step);
        break;
    case 2:
        t = column(r, u, units, step, slots);
        break;
    case 3:
        t = displaced(r, u, units, step);
        break;
    case 4:
        t = permuted(r, u, units, step, false);
        break;
    case 5:
        t = permuted(r, u, units, step, true);
        break;
    default:
        t = contiguous(u, units);
    }
    MPI_Type_free(&u);
    MPI_Type_commit(&t);
    return t;
}

MPI_Datatype type_make_tame(int unit, int units)
{
    rng r = rng_seed((uint64_t)unit, (uint64_t)units, 0);
    MPI_Datatype u = make_unit(&r, unit);
    MPI_Datatype t = rng_chance(&r, 50) ? with_holes(&r, u, units) : contiguous(u, units);
    MPI_Type_free(&u);
    MPI_Type_commit(&t);
    return t;
}

MPI_Datatype type_absolute(MPI_Datatype type, void *at)
{
    MPI_Datatype t;
    MPI_Aint address;
    int one = 1;
    PMPI_Get_address(at, &address);
    MPI_Type_create_hindexed(1, &one, &address, type, &t);
    MPI_Type_commit(&t);
    return t;
}

MPI_Datatype type_empty(rng *r)
{
    MPI_Datatype t;
    MPI_Type_contiguous(0, MPI_INT, &t);
    if (rng_chance(r, 50))
        t = resized(t, 0, 8);
    MPI_Type_commit(&t);
    return t;
}

static bool holds_nothing(int count, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    return size == 0 || count == 0;
}

void type_pack(const void *from, int count, MPI_Datatype type, void *bytes, int size, int *at)
{
    if (!holds_nothing(count, type))
        PMPI_Pack(from, count, type, bytes, size, at, MPI_COMM_SELF);
}

void type_unpack(const void *bytes, int size, int *at, void *to, int count, MPI_Datatype type)
{
    if (!holds_nothing(count, type))
        PMPI_Unpack(bytes, size, at, to, count, type, MPI_COMM_SELF);
}
