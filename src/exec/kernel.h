/* kernel.h: reduction kernels: the predefined operations of MPI on its basic types, as loops over any
 * number of operands at once. A rank reduces with them directly from the slots of all local ranks.
 * The host MPI does MINLOC, MAXLOC, and types without a kind here. */
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

/* out[i] = (in[0][i] op in[1][i]) op in[2][i] ..., always from left to right; n_in > 0. `out` may be
 * one of in[] but may not overlap them otherwise. All are aligned as their type asks. Integers wrap.
 * Of operands that are equal or unordered, max and min keep the earlier one, as the host MPIs do. */
typedef void sk_kernel_fn(void *out, const void *const *in, int n_in, int64_t count);

/* NULL: MPI has no such operation on this kind, or one of them is NONE. */
sk_kernel_fn *sk_kernel_find(sk_op_id op, sk_kind kind);

#endif
