/* loader.c: Skein's dlopen and dlsym.
 *
 * dlopen only takes note that libraries come: a GPU runtime may be among them. Who asks the C library for
 * its dlopen, to call it from one of his own, gets this one.
 *
 * dlsym: some programs load the MPI while they run and ask for its functions by the
 * handle (Julia does); some tools ask for the next MPI_ name after their own. Both would pass Skein by.
 * So where the answer is a function of the host that Skein has too, it becomes Skein's.
 *
 * What RTLD_NEXT means depends on the caller, which the C library reads from the return address. So
 * every other look-up must end in a jump to the real dlsym, not in a call; the same holds for dlopen,
 * which searches where its caller says. Compilers make a jump of it when they optimise and no sanitizer
 * is on; otherwise there are no such functions here. */
#include "mpi/state/host.h"

#if SK_HAVE_NEXT && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) &&                     \
    !defined(__SANITIZE_THREAD__)
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/lookup.h"
#include "mpi/state/device.h"

static bool defines(const struct link_map *map, const char *name)
{
    void *handle = sk_dlopen_real()(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return false;
    const void *fn = sk_dlsym(handle, name); /* it may be that of a dependency */
    dlclose(handle);
    return fn && sk_library_of(fn) == (const void *)map->l_addr;
}

/* Is the host's the next definition after the library that holds `caller`? */
static bool host_is_next(const void *caller, const char *name)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    for (map = map->l_next; map; map = map->l_next)
        if ((const void *)map->l_addr == sk_host_library())
            return true;
        else if (defines(map, name))
            return false;
    return false;
}

static void *own_dlopen(const char *file, int mode)
{
    sk_dlopen_fn *real = sk_dlopen_real();
    if (file && !(mode & RTLD_NOLOAD))
        sk_device_loading();
    return real(file, mode);
}

SK_EXPORT void *dlopen(const char *file, int mode);
SK_EXPORT void *dlopen(const char *file, int mode)
{
    return own_dlopen(file, mode);
}

SK_EXPORT void *dlsym(void *restrict handle, const char *restrict name);
SK_EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    sk_dlsym_fn *real = sk_dlsym_real();
    if (sk_is_real_dlopen(handle, name))
        return (void *)own_dlopen;
    if (handle == RTLD_DEFAULT || (!sk_name_starts(name, "MPI") && !sk_name_starts(name, "PMPI")))
        return real(handle, name);
    sk_host_start();
    void *entry = sk_host_entry(name);
    if (entry && (handle == RTLD_NEXT ? host_is_next(__builtin_return_address(0), name)
                                      : sk_library_of(real(handle, name)) == sk_host_library()))
        return entry;
    return real(handle, name);
}

#endif
