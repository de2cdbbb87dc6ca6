/* reduction.c: see reduction.h. */
#include "reduction.h"

#include <stdio.h>
#include <string.h>

enum { V_ANY, V_INT, V_FLOAT, V_PAIR };

/* ---- user-defined operations ---- */

/* x -> ax + b with a and b in the halves of a word: composing such functions does not commute. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    uint64_t *f = in, *g = inout;
    (void)type;
    for (int i = 0; i < *len; i++) {
        uint32_t a = (uint32_t)f[i], b = (uint32_t)(f[i] >> 32), c = (uint32_t)g[i],
                 d = (uint32_t)(g[i] >> 32);
        g[i] = (uint64_t)(a * c) | (uint64_t)(a * d + b) << 32;
    }
}

static void add_xor(void *in, void *inout, int *len, MPI_Datatype *type)
{
    uint32_t(*f)[3] = in, (*g)[3] = inout;
    (void)type;
    for (int i = 0; i < *len; i++) {
        g[i][0] += f[i][0];
        g[i][1] ^= f[i][1];
        g[i][2] = f[i][2] > g[i][2] ? f[i][2] : g[i][2];
    }
}

/* 2 x 2 matrices in several memory layouts. A function for each: the type handle it gets need not
 * be the caller's. */
typedef struct layout {
    MPI_Aint at[4], lb, extent;
} layout;
static const layout layouts[] = {
    {{0, 4, 8, 12}, 0, 16},
    {{0, 8, 20, 32}, 0, 44},
    {{4, 12, -16, -8}, -16, 48},
    {{24, 28, 32, 36}, 16, 32},
    {{0, 4 * REDUCTION_COLUMN, 8 * REDUCTION_COLUMN, 12 * REDUCTION_COLUMN}, 0, 4},
};
enum { NLAYOUTS = sizeof layouts / sizeof layouts[0] };

static void multiply(const layout *y, char *in, char *inout, int len)
{
    for (int i = 0; i < len; i++, in += y->extent, inout += y->extent) {
        uint32_t a[4], b[4];
        for (int k = 0; k < 4; k++) {
            memcpy(&a[k], in + y->at[k], 4);
            memcpy(&b[k], inout + y->at[k], 4);
        }
        for (int k = 0; k < 4; k++) {
            uint32_t c = a[k & 2] * b[k & 1] + a[(k & 2) + 1] * b[(k & 1) + 2];
            memcpy(inout + y->at[k], &c, 4);
        }
    }
}

#define MULTIPLY(i)                                                                                \
    static void multiply_##i(void *in, void *inout, int *len, MPI_Datatype *type)                  \
    {                                                                                              \
        (void)type;                                                                                \
        multiply(&layouts[i], in, inout, *len);                                                    \
    }
MULTIPLY(0)
MULTIPLY(1)
MULTIPLY(2)
MULTIPLY(3)
MULTIPLY(4)
static MPI_User_function *const multiplies[NLAYOUTS] = {multiply_0, multiply_1, multiply_2,
                                                        multiply_3, multiply_4};

static MPI_Datatype matrix_type(const layout *y)
{
    MPI_Datatype loose, t;
    int len[4] = {1, 1, 1, 1};
    MPI_Type_create_hindexed(4, len, y->at, MPI_UINT32_T, &loose);
    MPI_Type_create_resized(loose, y->lb, y->extent, &t);
    MPI_Type_free(&loose);
    MPI_Type_commit(&t);
    return t;
}

static void make_matrix(reduction *d, int y)
{
    d->type = matrix_type(&layouts[y]);
    d->plain_type = matrix_type(&layouts[0]);
    MPI_Op_create(multiplies[y], 0, &d->op);
    MPI_Op_create(multiplies[0], 0, &d->plain_op);
    d->user_op = d->user_type = d->user_plain = true;
    snprintf(d->name, sizeof d->name, "matrix product, layout %d", y);
}

static void make_user(reduction *d, rng *r, int elems)
{
    int which = rng_below(r, NLAYOUTS + 2);
    if (test_on_host() && which < NLAYOUTS)
        which = 0;
    d->values = V_ANY;
    if (which < NLAYOUTS) {
        make_matrix(d, elems > REDUCTION_COLUMN && which == NLAYOUTS - 1 ? 0 : which);
    } else if (which == NLAYOUTS) {
        d->type = MPI_UINT64_T;
        MPI_Op_create(compose, 0, &d->op);
        d->user_op = true;
        strcpy(d->name, "composition (not commutative)");
    } else {
        MPI_Type_contiguous(3, MPI_UINT32_T, &d->type);
        MPI_Type_commit(&d->type);
        MPI_Op_create(add_xor, 1, &d->op);
        d->user_op = d->user_type = true;
        strcpy(d->name, "sum, xor, max (commutative)");
    }
}

/* ---- predefined ones ---- */

static void make_predefined(reduction *d, rng *r)
{
    const MPI_Datatype ints[] = {MPI_INT,      MPI_LONG,     MPI_SHORT,         MPI_UNSIGNED,
                                 MPI_INT8_T,   MPI_UINT16_T, MPI_UNSIGNED_LONG, MPI_LONG_LONG_INT,
                                 MPI_UINT64_T, MPI_AINT,     MPI_CHAR};
    const MPI_Datatype floats[] = {MPI_DOUBLE, MPI_FLOAT};
    const MPI_Datatype pairs[] = {MPI_DOUBLE_INT, MPI_FLOAT_INT, MPI_LONG_INT, MPI_SHORT_INT,
                                  MPI_2INT};
    const MPI_Op of_ints[] = {MPI_SUM, MPI_MAX,  MPI_MIN,  MPI_PROD, MPI_BAND,
                              MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR,  MPI_LXOR};
    const MPI_Op of_floats[] = {MPI_SUM, MPI_MAX, MPI_MIN};
    int kind = rng_below(r, 10);
    if (kind < 5) {
        d->type = ints[rng_below(r, sizeof ints / sizeof ints[0])];
        d->op = of_ints[rng_below(r, sizeof of_ints / sizeof of_ints[0])];
        if (d->type == MPI_CHAR && (d->op == MPI_MAX || d->op == MPI_MIN))
            d->op = MPI_SUM; /* the sign is the host's, and MPICH's own persistent calls go wrong */
        d->values = V_INT;
    } else if (kind < 8) {
        d->type = floats[rng_below(r, 2)];
        d->op = of_floats[rng_below(r, 3)];
        d->values = V_FLOAT;
    } else {
        d->type = pairs[rng_below(r, sizeof pairs / sizeof pairs[0])];
        d->op = rng_chance(r, 50) ? MPI_MINLOC : MPI_MAXLOC;
        d->values = V_PAIR;
    }
    char type[MPI_MAX_OBJECT_NAME];
    int n;
    MPI_Type_get_name(d->type, type, &n);
    snprintf(d->name, sizeof d->name, "predefined on %.24s", type);
}

void reduction_make(reduction *d, rng *r, int elems)
{
    *d = (reduction){0};
    if (rng_chance(r, 50))
        make_user(d, r, elems);
    else
        make_predefined(d, r);
    d->padded = d->values == V_PAIR;
    if (!d->user_plain) {
        d->plain_op = d->op;
        d->plain_type = d->type;
    }
}

void reduction_free(reduction *d)
{
    if (d->user_op)
        MPI_Op_free(&d->op);
    if (d->user_type)
        MPI_Type_free(&d->type);
    if (d->user_plain) {
        MPI_Op_free(&d->plain_op);
        MPI_Type_free(&d->plain_type);
    }
    d->user_op = d->user_type = d->user_plain = false;
}

/* ---- values ---- */

#define FILL(T)                                                                                    \
    for (size_t i = 0; i < bytes / sizeof(T); i++)                                                 \
    ((T *)mem)[i] = (T)rng_below(r, 8)

static void fill_pairs(MPI_Datatype t, rng *r, void *mem, size_t bytes)
{
#define PAIR(HANDLE, T)                                                                            \
    if (t == HANDLE) {                                                                             \
        struct {                                                                                   \
            T v;                                                                                   \
            int i;                                                                                 \
        } *p = mem;                                                                                \
        for (size_t i = 0; i < bytes / sizeof *p; i++) {                                           \
            p[i].v = (T)rng_below(r, 5);                                                           \
            p[i].i = rng_below(r, 100);                                                            \
        }                                                                                          \
    }
    PAIR(MPI_DOUBLE_INT, double)
    PAIR(MPI_FLOAT_INT, float)
    PAIR(MPI_LONG_INT, long)
    PAIR(MPI_SHORT_INT, short)
    PAIR(MPI_2INT, int)
#undef PAIR
}

void reduction_fill(const reduction *d, rng *r, void *mem, size_t bytes)
{
    rng_fill(r, mem, bytes);
    if (d->values == V_PAIR)
        fill_pairs(d->type, r, mem, bytes);
    else if (d->values == V_FLOAT && d->type == MPI_DOUBLE)
        FILL(double);
    else if (d->values == V_FLOAT)
        FILL(float);
    else if (d->values == V_INT) {
        int size;
        MPI_Type_size(d->type, &size);
        if (size == 8)
            FILL(uint64_t);
        else if (size == 4)
            FILL(uint32_t);
        else if (size == 2)
            FILL(uint16_t);
        else
            FILL(uint8_t);
    }
}
