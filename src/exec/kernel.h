/* kernel.h: the standard's operations on the standard's basic types, as loops over any number of
 * operands at once: what reducing straight from the memory of local ranks needs. MINLOC and MAXLOC,
 * and what has no kind here, stay with the host. */
#ifndef SK_KERNEL_H
#define SK_KERNEL_H

#include <stdint.h>

typedef enum sk_kind {
    SK_KIND_NONE,
    SK_KIND_INT8,
    SK_KIND_INT16,
    SK_KIND_INT32,
    SK_KIND_INT64,
    SK_KIND_UINT8,
    SK_KIND_UINT16,
    SK_KIND_UINT32,
    SK_KIND_UINT64,
    SK_KIND_FLOAT,
    SK_KIND_DOUBLE,
    SK_KIND_LONG_DOUBLE,
    SK_KIND_FLOAT_COMPLEX,
    SK_KIND_DOUBLE_COMPLEX,
    SK_KIND_BOOL, /* a byte: zero is false, all else true */
    SK_KIND_BYTE,
    SK_NKINDS,
} sk_kind;

typedef enum sk_op_id {
    SK_OP_NONE,
    SK_OP_SUM,
    SK_OP_PROD,
    SK_OP_MAX,
    SK_OP_MIN,
    SK_OP_LAND,
    SK_OP_LOR,
    SK_OP_LXOR,
    SK_OP_BAND,
    SK_OP_BOR,
    SK_OP_BXOR,
    SK_NOPS,
} sk_op_id;

/* out[i] = (in[0][i] op in[1][i]) op in[2][i] ..., from left to right, whatever the count; n_in >
 * 0. `out` may be any of in[] but overlaps none of them otherwise. All are aligned as their type
 * asks. Integers wrap. Of operands that are equal, or do not compare, max and min keep the earlier,
 * as the hosts do. */
typedef void sk_kernel_fn(void *out, const void *const *in, int n_in, int64_t count);

/* NULL: the standard has no such operation on this kind, or one of them is NONE. */
sk_kernel_fn *sk_kernel_find(sk_op_id op, sk_kind kind);

#endif
