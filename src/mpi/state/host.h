/* host.h: the next definition of an MPI function: another tool's, or the host's. Calls that Skein
 * passes on go there, so tools stack. Skein's own calls go to PMPI. */
#ifndef SK_HOST_H
#define SK_HOST_H

#include "mpi/state/flavour.h"

#define SK_NEXT(name) SK_NEXT_(name)
#if SK_HAVE_NEXT
/* The next definition of `name`, or of `other_name`. Aborts when there is none. */
void *sk_host_find(const char *name, const char *other_name);

/* The definition of `name` behind ours: the next one in the search order, or one of a loaded library
 * whose file name starts with `library`, also if it was loaded RTLD_LOCAL. NULL: there is none. */
void *sk_host_find_loaded(const char *name, const char *library);

/* The address is looked up once; a race stores the same value twice. */
#define SK_NEXT_(name)                                                                             \
    ({                                                                                             \
        static _Atomic(__typeof__(&P##name)) found;                                                \
        __typeof__(&P##name) fn = atomic_load_explicit(&found, memory_order_relaxed);              \
        if (!fn) {                                                                                 \
            fn = (__typeof__(&P##name))sk_host_find(#name, "P" #name);                             \
            atomic_store_explicit(&found, fn, memory_order_relaxed);                               \
        }                                                                                          \
        fn;                                                                                        \
    })
#else
#define SK_NEXT_(name) P##name
#endif

#endif
