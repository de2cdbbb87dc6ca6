/* next.h: the function that would have been called without Skein: another tool's, or the host's.
 * Calls that Skein passes on go there, so tools stack; calls of Skein's own go to PMPI. */
#ifndef SK_NEXT_H
#define SK_NEXT_H

#include "mpi/flavour.h"

#define SK_NEXT(name) SK_NEXT_(name)
#if SK_HAVE_NEXT
/* The address is looked up once; a race writes the same value twice. */
void *sk_next_find(const char *name, const char *other_name);
#define SK_NEXT_(name)                                                                             \
    ({                                                                                             \
        static _Atomic(__typeof__(&P##name)) found;                                                \
        __typeof__(&P##name) fn = atomic_load_explicit(&found, memory_order_relaxed);              \
        if (!fn) {                                                                                 \
            fn = (__typeof__(&P##name))sk_next_find(#name, "P" #name);                             \
            atomic_store_explicit(&found, fn, memory_order_relaxed);                               \
        }                                                                                          \
        fn;                                                                                        \
    })
#else
#define SK_NEXT_(name) P##name
#endif

#endif
