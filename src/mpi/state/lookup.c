#include "mpi/state/lookup.h"

#include "mpi/state/flavour.h"

#if SK_HAVE_NEXT
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

/* Only the C library's functions have a version, so dlvsym never finds ours. */
static void *find(const char *name)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27"};
    void *fn = NULL;
    for (size_t i = 0; !fn && i < sizeof versions / sizeof *versions; i++)
        fn = dlvsym(RTLD_NEXT, name, versions[i]);
    return fn;
}

sk_dlsym_fn *sk_dlsym_real(void)
{
    static _Atomic(void *) found;
    if (!atomic_load_explicit(&found, memory_order_relaxed))
        atomic_store_explicit(&found, find("dlsym"), memory_order_relaxed);
    return (sk_dlsym_fn *)atomic_load_explicit(&found, memory_order_relaxed);
}

sk_dlopen_fn *sk_dlopen_real(void)
{
    static _Atomic(void *) found;
    if (!atomic_load_explicit(&found, memory_order_relaxed))
        atomic_store_explicit(&found, find("dlopen"), memory_order_relaxed);
    return (sk_dlopen_fn *)atomic_load_explicit(&found, memory_order_relaxed);
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
