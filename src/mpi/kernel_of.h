/* kernel_of.h: from MPI handles to Skein's own reduction loops. Handles are addresses on some hosts
 * and numbers on others, so they are looked up in tables: an operation in 2 to 5 ns, a type in
 * 5 to 20, which is for once per plan or per sk_dtype, not for every call. */
#ifndef SK_KERNEL_OF_H
#define SK_KERNEL_OF_H

#include <stdbool.h>

#include "exec/kernel.h"
#include "mpi/flavour.h"

/* NONE: left to the host. Such are derived types, pairs, Fortran's LOGICAL, whose .TRUE. is the
 * compiler's choice, and types that the host has but C may not. */
sk_kind sk_kind_of(MPI_Datatype type);
sk_op_id sk_op_of(MPI_Op op);

/* NULL: there is no such kernel. Whether the standard allows the pair is asked of sk_reducible. */
static inline sk_kernel_fn *sk_kernel_of(MPI_Op op, MPI_Datatype type)
{
    return sk_kernel_find(sk_op_of(op), sk_kind_of(type));
}

#endif
