#include "mpi/state/host.h"

#if SK_HAVE_NEXT
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *sk_host_find(const char *name, const char *other_name)
{
    void *fn = dlsym(RTLD_NEXT, name);
    if (!fn)
        fn = dlsym(RTLD_NEXT, other_name);
    if (!fn) {
        fprintf(stderr, "skein: the MPI library has no %s\n", name);
        abort();
    }
    return fn;
}

typedef struct sk_library_search {
    const char *library;
    char path[4096];
} sk_library_search;

static int match_object(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    sk_library_search *s = data;
    const char *slash = strrchr(info->dlpi_name, '/'), *file = slash ? slash + 1 : info->dlpi_name;
    if (strncmp(file, s->library, strlen(s->library)) != 0)
        return 0;
    snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
    return 1;
}

void *sk_host_find_loaded(const char *name, const char *library)
{
    void *fn = dlsym(RTLD_NEXT, name), *handle = NULL;
    sk_library_search s = {.library = library};
    if (!fn && dl_iterate_phdr(match_object, &s))
        handle = dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) {
        fn = dlsym(handle, name);
        dlclose(handle); /* whoever loaded it keeps it */
    }
    return fn;
}
#endif
