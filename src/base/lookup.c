#include "base/lookup.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

bool sk_is_real_dlopen(void *handle, const char *name)
{
    return sk_name_starts(name, "dlopen") && !name[sizeof "dlopen" - 1] &&
           sk_library_of(sk_dlsym(handle, name)) == sk_library_of((void *)sk_dlopen_real());
}

void *sk_dlsym(void *handle, const char *name)
{
    return sk_dlsym_real()(handle, name);
}

void *sk_dlsym_next(const char *name)
{
    void *fn = sk_dlsym_real()(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(fn)); /* no jump: the return address says which library asks */
    return fn;
}

typedef struct library_search {
    const char *library;
    char path[4096];
} library_search;

static int match(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    library_search *s = data;
    const char *slash = strrchr(info->dlpi_name, '/'), *file = slash ? slash + 1 : info->dlpi_name;
    if (strncmp(file, s->library, strlen(s->library)) != 0)
        return 0;
    snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
    return 1;
}

void *sk_dlsym_in(const char *name, const char *library)
{
    library_search s = {.library = library};
    if (!dl_iterate_phdr(match, &s))
        return NULL;
    void *handle = sk_dlopen_real()(s.path, RTLD_LAZY | RTLD_NOLOAD);
    void *fn = handle ? sk_dlsym(handle, name) : NULL;
    if (handle)
        dlclose(handle); /* whoever loaded it keeps it */
    return fn;
}

static int count_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(unsigned long long *)data = info->dlpi_adds;
    return 1;
}

unsigned long long sk_libraries_loaded(void)
{
    unsigned long long n = 0;
    dl_iterate_phdr(count_loaded, &n);
    return n;
}

/* dladdr looks for the name, too, among thousands of symbols. */
const void *sk_library_of(const void *fn)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc has _dl_find_object */
    struct dl_find_object o;
    return fn && _dl_find_object((void *)fn, &o) == 0 ? o.dlfo_map_start : NULL;
#else
    Dl_info info;
    return fn && dladdr(fn, &info) ? info.dli_fbase : NULL;
#endif
}
