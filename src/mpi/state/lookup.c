#include "mpi/state/lookup.h"

#include "mpi/state/flavour.h"

#if SK_HAVE_NEXT
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

/* Only the C library's dlsym has a version, so dlvsym never finds ours. */
sk_dlsym_fn *sk_dlsym_real(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27"};
    static _Atomic(sk_dlsym_fn *) found;
    sk_dlsym_fn *fn = atomic_load_explicit(&found, memory_order_relaxed);
    for (size_t i = 0; !fn && i < sizeof versions / sizeof *versions; i++)
        fn = (sk_dlsym_fn *)dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    atomic_store_explicit(&found, fn, memory_order_relaxed);
    return fn;
}

void *sk_dlsym(void *handle, const char *name)
{
    return sk_dlsym_real()(handle, name);
}

void *sk_dlsym_next(const char *name)
{
    return sk_dlsym_real()(RTLD_NEXT, name);
}

const void *sk_library_of(const void *fn)
{
    Dl_info info;
    return fn && dladdr(fn, &info) ? info.dli_fbase : NULL;
}

#endif
