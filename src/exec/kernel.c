/* kernel.c: reduction kernels for all pairs of operation and type. */
#include "exec/kernel.h"

#include <complex.h>
#include <stddef.h>
#include <string.h>

#include "base/attr.h"

#define SK_BLOCK 4096 /* bytes of a result that stays in the L1 cache */
#define SK_LINE  64
#define SK_FEW   2 /* elements: too few for vectors */

/* SK_NO_CARRY: no element depends on the one before. The compiler cannot see that, as `out` may be
 * an operand. GCC needs -O3 to vectorize loops of unknown length; only this file is compiled so. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* for types that no machine has in vectors */
#define SK_NO_CARRY _Pragma("clang loop vectorize(assume_safety)")
#else
#pragma GCC optimize("O3")
#define SK_NO_CARRY _Pragma("GCC ivdep")
#endif

/* A kernel is compiled once more for processors with wider vectors, and the loader takes the one that fits. Not
 * for those that also multiply and add in one step: products would have other bits there. Sanitizers cannot be
 * called as early as the loader decides. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) &&                 \
    !defined(__SANITIZE_ADDRESS__)
#define SK_WIDE __attribute__((noinline, target_clones("avx2", "default")))
#else
#define SK_WIDE __attribute__((noinline))
#endif

#define T     uint8_t
#define FN(x) x##_u8
#include "exec/kernel_fold.h"
#define T     uint16_t
#define FN(x) x##_u16
#include "exec/kernel_fold.h"
#define T     uint32_t
#define FN(x) x##_u32
#include "exec/kernel_fold.h"
#define T     uint64_t
#define FN(x) x##_u64
#include "exec/kernel_fold.h"
#define T     int8_t
#define FN(x) x##_i8
#include "exec/kernel_fold.h"
#define T     int16_t
#define FN(x) x##_i16
#include "exec/kernel_fold.h"
#define T     int32_t
#define FN(x) x##_i32
#include "exec/kernel_fold.h"
#define T     int64_t
#define FN(x) x##_i64
#include "exec/kernel_fold.h"
#define T     float
#define FN(x) x##_float
#include "exec/kernel_fold.h"
#define T     double
#define FN(x) x##_double
#include "exec/kernel_fold.h"
#define T     long double
#define FN(x) x##_ldouble
#include "exec/kernel_fold.h"
#define T     float _Complex
#define FN(x) x##_cfloat
#include "exec/kernel_fold.h"
#define T     double _Complex
#define FN(x) x##_cdouble
#include "exec/kernel_fold.h"

/* `expr` combines a, the earlier operand, and b. */
#define KERNEL(name, type, T, expr)                                                                \
    static SK_INLINED T one_##name##_##type(T a, T b)                                              \
    {                                                                                              \
        return (T)(expr);                                                                          \
    }                                                                                              \
    SK_WIDE static void many_##name##_##type(T *out, const void *const *in, int n_in,              \
                                             int64_t count)                                        \
    {                                                                                              \
        fold_many_##type(out, in, n_in, count, one_##name##_##type);                               \
    }                                                                                              \
    static void name##_##type(void *out, const void *const *in, int n_in, int64_t count)           \
    {                                                                                              \
        if (count <= SK_FEW)                                                                       \
            fold_few_##type(out, in, n_in, count, one_##name##_##type);                            \
        else if (n_in == 1)                                                                        \
            memmove(out, in[0], (size_t)count * sizeof(T));                                        \
        else                                                                                       \
            many_##name##_##type(out, in, n_in, count);                                            \
    }

#define ORDERED(type, T)                                                                           \
    KERNEL(max, type, T, b > a ? b : a)                                                            \
    KERNEL(min, type, T, b < a ? b : a)

#define ARITHMETIC(type, T)                                                                        \
    KERNEL(sum, type, T, a + b)                                                                    \
    KERNEL(prod, type, T, a *b)

/* Arithmetic that wraps is the same for both signs. `0u +`: short factors would become ints, which
 * do not wrap. */
#define UNSIGNED(type, T)                                                                          \
    ORDERED(type, T)                                                                               \
    KERNEL(sum, type, T, a + b)                                                                    \
    KERNEL(prod, type, T, (0u + a) * b)                                                            \
    KERNEL(land, type, T, (a != 0) & (b != 0))                                                     \
    KERNEL(lor, type, T, (a | b) != 0)                                                             \
    KERNEL(lxor, type, T, (a != 0) ^ (b != 0))                                                     \
    KERNEL(band, type, T, a &b)                                                                    \
    KERNEL(bor, type, T, a | b)                                                                    \
    KERNEL(bxor, type, T, a ^ b)

UNSIGNED(u8, uint8_t)
UNSIGNED(u16, uint16_t)
UNSIGNED(u32, uint32_t)
UNSIGNED(u64, uint64_t)
ORDERED(i8, int8_t)
ORDERED(i16, int16_t)
ORDERED(i32, int32_t)
ORDERED(i64, int64_t)
ORDERED(float, float)
ORDERED(double, double)
ORDERED(ldouble, long double)
ARITHMETIC(float, float)
ARITHMETIC(double, double)
ARITHMETIC(ldouble, long double)
ARITHMETIC(cfloat, float _Complex)
ARITHMETIC(cdouble, double _Complex)

#define FOR_SIGNED(op, s)                                                                          \
    [SK_KIND_INT8] = op##_##s##8, [SK_KIND_INT16] = op##_##s##16, [SK_KIND_INT32] = op##_##s##32,  \
    [SK_KIND_INT64] = op##_##s##64
#define FOR_UNSIGNED(op)                                                                           \
    [SK_KIND_UINT8] = op##_u8, [SK_KIND_UINT16] = op##_u16, [SK_KIND_UINT32] = op##_u32,           \
    [SK_KIND_UINT64] = op##_u64
#define FOR_FLOATS(op)                                                                             \
    [SK_KIND_FLOAT] = op##_float, [SK_KIND_DOUBLE] = op##_double,                                  \
    [SK_KIND_LONG_DOUBLE] = op##_ldouble
#define FOR_COMPLEX(op)                                                                            \
    [SK_KIND_FLOAT_COMPLEX] = op##_cfloat, [SK_KIND_DOUBLE_COMPLEX] = op##_cdouble

#define OF_NUMBERS(op) FOR_SIGNED(op, u), FOR_UNSIGNED(op), FOR_FLOATS(op), FOR_COMPLEX(op)
#define OF_ORDER(op)   FOR_SIGNED(op, i), FOR_UNSIGNED(op), FOR_FLOATS(op)
#define OF_TRUTH(op)   FOR_SIGNED(op, u), FOR_UNSIGNED(op), [SK_KIND_BOOL] = op##_u8
#define OF_BITS(op)    FOR_SIGNED(op, u), FOR_UNSIGNED(op), [SK_KIND_BYTE] = op##_u8

/* The table of the MPI standard, section "Predefined Reduction Operations". */
sk_kernel_fn *sk_kernel_find(sk_op_id op, sk_kind kind)
{
    static sk_kernel_fn *const table[SK_NOPS][SK_NKINDS] = {
        [SK_OP_SUM] = {OF_NUMBERS(sum)}, [SK_OP_PROD] = {OF_NUMBERS(prod)},
        [SK_OP_MAX] = {OF_ORDER(max)},   [SK_OP_MIN] = {OF_ORDER(min)},
        [SK_OP_LAND] = {OF_TRUTH(land)}, [SK_OP_LOR] = {OF_TRUTH(lor)},
        [SK_OP_LXOR] = {OF_TRUTH(lxor)}, [SK_OP_BAND] = {OF_BITS(band)},
        [SK_OP_BOR] = {OF_BITS(bor)},    [SK_OP_BXOR] = {OF_BITS(bxor)},
    };
    return table[op][kind];
}
