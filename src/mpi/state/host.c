#include "mpi/state/host.h"

#if SK_HAVE_NEXT
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "mpi/state/lookup.h"

sk_host_table sk_host;

/* Never called: the one symbol that makes the host a dependency of this library. */
__attribute__((used)) static double dependency(void)
{
    return PMPI_Wtime();
}

/* ---- libraries ---- */

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

/* A handle of a loaded library; NULL: there is none of that name. */
static void *open_loaded(const char *library)
{
    sk_library_search s = {.library = library};
    return dl_iterate_phdr(match_object, &s) ? sk_dlopen_real()(s.path, RTLD_LAZY | RTLD_NOLOAD)
                                             : NULL;
}

void *sk_host_find_in(const char *name, const char *library)
{
    void *handle = open_loaded(library), *fn = handle ? sk_dlsym(handle, name) : NULL;
    if (handle)
        dlclose(handle); /* whoever loaded it keeps it */
    return fn;
}

void *sk_host_find_loaded(const char *name, const char *library)
{
    void *fn = sk_dlsym_next(name);
    return fn ? fn : sk_host_find_in(name, library);
}

/* ---- the table ---- */

static void missing(void)
{
    fprintf(stderr, "skein: the program uses an MPI function that its MPI library does not have\n");
    abort();
}

typedef struct sk_host_name {
    const char *name, *other; /* `other` is looked up if there is no `name` */
    size_t at;                /* offset in sk_host_table */
} sk_host_name;

static const sk_host_name host_names[] = {
#define HOST(Name)                   {"PMPI_" #Name, NULL, offsetof(sk_host_table, Name)},
#define HOST_AS(Name, params)        HOST(Name)
#define HOST_OR(Name, other, params) {"PMPI_" #Name, other, offsetof(sk_host_table, Name)},
#include "mpi/state/host.def"
#undef HOST
#undef HOST_AS
#undef HOST_OR
};

static void *find(void *host, const char *name)
{
    return host ? sk_dlsym(host, name) : sk_dlsym_next(name);
}

/* ---- the ways ---- */

extern sk_way *const __start_sk_ways[] __attribute__((visibility("hidden")));
extern sk_way *const __stop_sk_ways[] __attribute__((visibility("hidden")));

void *sk_host_entry(const char *name)
{
    bool pmpi = *name == 'P';
    for (sk_way *const *at = __start_sk_ways; at < __stop_sk_ways; at++)
        if (strcmp((*at)->name + !pmpi, name) == 0)
            return pmpi ? (*at)->pmpi : (*at)->entry;
    return NULL;
}

const void *sk_host_library(void)
{
    return sk_library_of((void *)sk_host.Init);
}

static void set_ways(void *host, const void *host_library)
{
    bool pmpi = sk_setting_on(SK_SET_PMPI);
    for (sk_way *const *at = __start_sk_ways; at < __stop_sk_ways; at++) {
        sk_way *w = *at;
        w->mpi = w->pmpi = w->entry;
        if (!host)
            continue;
        void *next = sk_dlsym_next(w->name + 1), *own = sk_dlsym(host, w->name);
        if (pmpi && next && sk_library_of(next) != host_library)
            w->mpi = next;
        if (!pmpi && own)
            w->pmpi = own;
    }
}

/* The host is a dependency of this library, so it is loaded. */
__attribute__((constructor)) void sk_host_start(void)
{
    if (sk_host.Init)
        return;
    void *host = open_loaded(SK_HOST_LIBRARY);
    for (size_t i = 0; i < sizeof host_names / sizeof *host_names; i++) {
        const sk_host_name *n = &host_names[i];
        void *fn = find(host, n->name);
        if (!fn && n->other)
            fn = find(host, n->other);
        if (!fn)
            fn = (void *)missing;
        memcpy((char *)&sk_host + n->at, &fn, sizeof fn);
    }
    sk_host.large = (void *)sk_host.Bcast_c != (void *)missing;
#if defined(SK_HOST_ERRORS_ABORT)
    sk_host.errors_abort = find(host, SK_HOST_ERRORS_ABORT);
#elif defined(MPI_ERRORS_ABORT)
    sk_host.errors_abort = MPI_ERRORS_ABORT;
#endif
    set_ways(host, sk_host_library());
}

/* For tests and tools, which look it up by name: the host's function behind an MPI name, given as
 * "PMPI_...". NULL: it has none. */
SK_EXPORT void *skein_host(const char *name)
{
    void *host = open_loaded(SK_HOST_LIBRARY);
    void *fn = find(host, name);
    if (host)
        dlclose(host);
    return fn;
}

#else

sk_host_table sk_host = {
#define HOST(Name)            .Name = PMPI_##Name,
#define HOST_AS(Name, params) HOST(Name)
#include "mpi/state/host.def"
#undef HOST
#undef HOST_AS
};

#endif
