/* dtype.h: what Skein knows about a datatype. */
#ifndef SK_DTYPE_H
#define SK_DTYPE_H

#include "exec/kernel.h"
#include "mpi/state/process.h"

typedef enum sk_type_class {
    SK_CLASS_OTHER, /* derived, or not for reductions */
    SK_CLASS_INTEGER,
    SK_CLASS_FLOAT,
    SK_CLASS_COMPLEX,
    SK_CLASS_LOGICAL,
    SK_CLASS_BYTE,
    SK_CLASS_PAIR,
    SK_CLASS_CHARACTER, /* of either sign */
} sk_type_class;

typedef struct sk_dtype {
    _Atomic(uintptr_t) handle; /* 0 while in the pool */
    sk_type layout;
    sk_type_class class;
    sk_kind kind; /* NONE: the host must reduce it */
    bool named;
    bool single; /* one element of a named type, laid out like it: duplicates too */
    struct sk_dtype *next;
} sk_dtype;

sk_dtype *sk_dtype_find(MPI_Datatype type); /* NULL: leave the call to the host */

static inline sk_dtype *sk_dtype_get(MPI_Datatype type)
{
    sk_dtype *d =
        atomic_load_explicit(&sk_proc.type_slot[SK_HANDLE_INDEX(type)], memory_order_acquire);
    if (d && atomic_load_explicit(&d->handle, memory_order_relaxed) == (uintptr_t)type)
        return d;
    return sk_dtype_find(type);
}

int sk_dtype_attr_freed(MPI_Datatype type, int key, void *value, void *extra);
void sk_dtype_forget_all(void);

/* How an operation is applied to a type. */
typedef struct sk_reduction {
    bool ordered;         /* the operation does not commute */
    bool predefined;      /* it is one of the standard's */
    sk_kernel_fn *kernel; /* NULL: the host must reduce */
} sk_reduction;

/* False: the standard does not allow this pair. The call goes to the host, which reports that. */
bool sk_reducible(MPI_Op op, const sk_dtype *d, sk_reduction *out);

#endif
