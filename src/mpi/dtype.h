/* dtype.h: what Skein knows of a datatype. */
#ifndef SK_DTYPE_H
#define SK_DTYPE_H

#include "mpi/process.h"

typedef enum sk_type_class {
    SK_CLASS_OTHER, /* derived, or not for reductions */
    SK_CLASS_INTEGER,
    SK_CLASS_FLOAT,
    SK_CLASS_COMPLEX,
    SK_CLASS_LOGICAL,
    SK_CLASS_BYTE,
    SK_CLASS_PAIR,
} sk_type_class;

typedef struct sk_dtype {
    _Atomic(uintptr_t) handle; /* 0 while in the pool */
    sk_type layout;
    sk_type_class class;
    bool named;
    struct sk_dtype *next;
} sk_dtype;

sk_dtype *sk_dtype_find(MPI_Datatype type); /* NULL: leave the call to the host */

static inline sk_dtype *sk_dtype_get(MPI_Datatype type)
{
    sk_dtype *d = atomic_load_explicit(&sk_proc.type_slot[SK_SLOT(type)], memory_order_acquire);
    if (d && atomic_load_explicit(&d->handle, memory_order_relaxed) == (uintptr_t)type)
        return d;
    return sk_dtype_find(type);
}

int sk_dtype_attr_freed(MPI_Datatype type, int key, void *value, void *extra);
void sk_dtype_forget_all(void);

/* May this operation be applied to this type, does it commute, is it predefined? A pair the
 * standard does not allow is left to the host, which reports it. */
bool sk_reducible(MPI_Op op, const sk_dtype *d, bool *ordered, bool *predefined);

#endif
