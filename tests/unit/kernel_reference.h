/* kernel_reference.h: what the kernels should do: the operations in the plainest way, operands for
 * them, and the standard's table of which operation goes with which type. */
#ifndef KERNEL_REFERENCE_H
#define KERNEL_REFERENCE_H

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/kernel.h"
#include "unit.h"

/* left = left op b, one element. */
typedef void apply_fn(sk_op_id op, void *left, const void *b);

#define REFERENCE(name, T, cases)                                                                  \
    static void name(sk_op_id op, void *left, const void *right)                                   \
    {                                                                                              \
        T a, b;                                                                                    \
        memcpy(&a, left, sizeof a);                                                                \
        memcpy(&b, right, sizeof b);                                                               \
        switch (op) {                                                                              \
            cases default : fail();                                                                \
        }                                                                                          \
        memcpy(left, &a, sizeof a);                                                                \
    }
#define CASE(op, expr)                                                                             \
    case op:                                                                                       \
        a = (expr);                                                                                \
        break;
#define WIDE          (uint64_t)
#define ORDER         CASE(SK_OP_MAX, b > a ? b : a) CASE(SK_OP_MIN, b < a ? b : a)
#define LOGIC         CASE(SK_OP_LAND, a &&b) CASE(SK_OP_LOR, a || b) CASE(SK_OP_LXOR, !a != !b)
#define BITS          CASE(SK_OP_BAND, a &b) CASE(SK_OP_BOR, a | b) CASE(SK_OP_BXOR, a ^ b)
#define WRAPPING      CASE(SK_OP_SUM, WIDE a + WIDE b) CASE(SK_OP_PROD, WIDE a *WIDE b)
#define PLAIN         CASE(SK_OP_SUM, a + b) CASE(SK_OP_PROD, a *b)
#define INTEGER(n, T) REFERENCE(n, T, WRAPPING ORDER LOGIC BITS)

INTEGER(apply_int8, int8_t)
INTEGER(apply_int16, int16_t)
INTEGER(apply_int32, int32_t)
INTEGER(apply_int64, int64_t)
INTEGER(apply_uint8, uint8_t)
INTEGER(apply_uint16, uint16_t)
INTEGER(apply_uint32, uint32_t)
INTEGER(apply_uint64, uint64_t)
REFERENCE(apply_float, float, PLAIN ORDER)
REFERENCE(apply_double, double, PLAIN ORDER)
REFERENCE(apply_ldouble, long double, PLAIN ORDER)
REFERENCE(apply_cfloat, float _Complex, PLAIN)
REFERENCE(apply_cdouble, double _Complex, PLAIN)

/* Operands that tell the order in which they were combined. */
typedef void fill_fn(void *at, bool odd);

static void fill_bits(void *at, size_t size)
{
    uint64_t bits = (uint64_t)rand() * UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = bits % 16 ? bits >> 32 | bits << 32 : 0;
    memcpy(at, &mixed, size);
}

/* Of magnitude 1/2 to 2, so that no product of 32 leaves the range of a float; `odd`: now and then
 * a zero of either sign or no number at all. */
static double number(bool odd)
{
    int r = rand();
    double x = (0.5 + 1.5 * r / RAND_MAX) * (r & 1 ? 1 : -1);
    if (odd && r % 8 < 2)
        return r & 8 ? copysign(NAN, x) : copysign(0, x);
    return x;
}

#define FILL_INTEGER(name, T)                                                                      \
    static void name(void *at, bool odd)                                                           \
    {                                                                                              \
        (void)odd;                                                                                 \
        fill_bits(at, sizeof(T));                                                                  \
    }
#define FILL_NUMBER(name, T, expr)                                                                 \
    static void name(void *at, bool odd)                                                           \
    {                                                                                              \
        T x = (T)(expr);                                                                           \
        memcpy(at, &x, sizeof x);                                                                  \
    }

FILL_INTEGER(fill_8, uint8_t)
FILL_INTEGER(fill_16, uint16_t)
FILL_INTEGER(fill_32, uint32_t)
FILL_INTEGER(fill_64, uint64_t)
FILL_NUMBER(fill_float, float, number(odd))
FILL_NUMBER(fill_double, double, number(odd))
FILL_NUMBER(fill_ldouble, long double, number(odd) * (1 + LDBL_EPSILON * (rand() % 1024)))
FILL_NUMBER(fill_cfloat, float _Complex, number(odd) + I * number(odd))
FILL_NUMBER(fill_cdouble, double _Complex, number(odd) + I * number(odd))

typedef enum { INTEGERS = 1, FLOATS = 2, COMPLEX = 4, LOGICALS = 8, BYTES = 16 } class;

enum { LDOUBLE_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) }; /* the rest is padding */

static const struct kind {
    class class;
    size_t size, used;
    apply_fn *apply;
    fill_fn *fill;
} kinds[SK_NKINDS] = {
    [SK_KIND_INT8] = {INTEGERS, 1, 1, apply_int8, fill_8},
    [SK_KIND_INT16] = {INTEGERS, 2, 2, apply_int16, fill_16},
    [SK_KIND_INT32] = {INTEGERS, 4, 4, apply_int32, fill_32},
    [SK_KIND_INT64] = {INTEGERS, 8, 8, apply_int64, fill_64},
    [SK_KIND_UINT8] = {INTEGERS, 1, 1, apply_uint8, fill_8},
    [SK_KIND_UINT16] = {INTEGERS, 2, 2, apply_uint16, fill_16},
    [SK_KIND_UINT32] = {INTEGERS, 4, 4, apply_uint32, fill_32},
    [SK_KIND_UINT64] = {INTEGERS, 8, 8, apply_uint64, fill_64},
    [SK_KIND_FLOAT] = {FLOATS, sizeof(float), sizeof(float), apply_float, fill_float},
    [SK_KIND_DOUBLE] = {FLOATS, sizeof(double), sizeof(double), apply_double, fill_double},
    [SK_KIND_LONG_DOUBLE] = {FLOATS, sizeof(long double), LDOUBLE_BYTES, apply_ldouble,
                             fill_ldouble},
    [SK_KIND_FLOAT_COMPLEX] = {COMPLEX, sizeof(float _Complex), sizeof(float _Complex),
                               apply_cfloat, fill_cfloat},
    [SK_KIND_DOUBLE_COMPLEX] = {COMPLEX, sizeof(double _Complex), sizeof(double _Complex),
                                apply_cdouble, fill_cdouble},
    [SK_KIND_BOOL] = {LOGICALS, 1, 1, apply_uint8, fill_8},
    [SK_KIND_BYTE] = {BYTES, 1, 1, apply_uint8, fill_8},
};

/* The table of the standard. */
static const int allowed[SK_NOPS] = {
    [SK_OP_SUM] = INTEGERS | FLOATS | COMPLEX,
    [SK_OP_PROD] = INTEGERS | FLOATS | COMPLEX,
    [SK_OP_MAX] = INTEGERS | FLOATS,
    [SK_OP_MIN] = INTEGERS | FLOATS,
    [SK_OP_LAND] = INTEGERS | LOGICALS,
    [SK_OP_LOR] = INTEGERS | LOGICALS,
    [SK_OP_LXOR] = INTEGERS | LOGICALS,
    [SK_OP_BAND] = INTEGERS | BYTES,
    [SK_OP_BOR] = INTEGERS | BYTES,
    [SK_OP_BXOR] = INTEGERS | BYTES,
};

#endif
