#include "mpi/state/host.h"

#if SK_HAVE_NEXT
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/mpi_library.h"
#include "base/settings.h"
#include "front/front.h"

sk_host_table sk_host;

/* ---- where it is ---- */

static sk_front_fn *front(void)
{
    return (sk_front_fn *)sk_dlsym(RTLD_DEFAULT, SK_FRONT_SYMBOL);
}

/* The next definition after this library, if it is preloaded itself; libskein.so has none. */
static void *next(const char *name)
{
    void *fn = sk_dlsym_next(name);
    return fn && front() && sk_library_of(fn) == sk_library_of((void *)front())
               ? front()().next(name)
               : fn;
}

/* What libskein.so knows, if it has loaded this library. */
static sk_front find_host(sk_loaded_mpi *host)
{
    *host = (sk_loaded_mpi){.flavour = SK_HOST_FLAVOUR};
    if (front() && front()().loads)
        return front()();
    if (!sk_loaded_mpi_find(next("PMPI_Init"), host))
        *host = (sk_loaded_mpi){.flavour = SK_HOST_FLAVOUR};
    return (sk_front){.host = host->handle, .next = next};
}

void *sk_host_find_loaded(const char *name, const char *library)
{
    sk_loaded_mpi host;
    void *fn = find_host(&host).next(name);
    return fn ? fn : sk_dlsym_in(name, library);
}

void *sk_host_find_own(const char *name)
{
    sk_loaded_mpi host;
    const sk_front f = find_host(&host);
    return f.host ? sk_dlsym(f.host, name) : NULL;
}

bool sk_host_writes_requests(void)
{
    static _Atomic unsigned long long asked; /* libraries loaded when it was looked for last */
    static atomic_bool found;
    unsigned long long loaded = sk_libraries_loaded();
    if (atomic_load(&asked) != loaded) {
        if (sk_dlsym_in("mpi_gatherv_init_", "libmpi_mpifh"))
            atomic_store(&found, true);
        atomic_store(&asked, loaded);
    }
    return atomic_load(&found);
}

/* The component that Open MPI has selected begins with a fixed layout: versions, the names of project, kind and component.
 * If it is another one, the names are not there. */
bool sk_host_keeps_comms(void)
{
    enum { KIND = 40, NAME = 84 };
    const char *c = sk_host_find_loaded("mca_pml_base_selected_component", "libmpi.so");
    return c && strcmp(c + KIND, "pml") == 0 && strcmp(c + NAME, "ob1") == 0;
}

/* ---- the table ---- */

void sk_host_missing(void)
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

static void *find(const sk_front *f, const char *name)
{
    return f->host ? sk_dlsym(f->host, name) : f->next(name);
}

/* ---- the ways ---- */

extern sk_way *const __start_sk_ways[] __attribute__((visibility("hidden")));
extern sk_way *const __stop_sk_ways[] __attribute__((visibility("hidden")));

static sk_way *find_way(const char *name)
{
    bool pmpi = *name == 'P';
    for (sk_way *const *at = __start_sk_ways; at < __stop_sk_ways; at++)
        if (strcmp((*at)->name + !pmpi, name) == 0)
            return *at;
    return NULL;
}

void *sk_host_entry(const char *name)
{
    sk_way *w = sk_host.Init ? find_way(name) : NULL;
    return !w ? NULL : *name == 'P' ? w->pmpi : w->entry;
}

/* For libskein.so: see front.h. */
SK_EXPORT sk_front_way_fn skein_way;
void *skein_way(const char *name)
{
    sk_way *w = find_way(name);
    return !w ? NULL : *name == 'P' ? w->pmpi : w->mpi;
}

const void *sk_host_library(void)
{
    return sk_library_of((void *)sk_host.Init);
}

/* Only Skein knows what is behind the handles of its collectives, whoever waits for them. */
static bool takes_requests(const char *name)
{
    return sk_name_starts(name, "PMPI_Wait") || sk_name_starts(name, "PMPI_Test") ||
           sk_name_starts(name, "PMPI_Start") || sk_name_starts(name, "PMPI_Request_") ||
           sk_name_starts(name, "PMPI_Cancel") || sk_name_starts(name, "PMPIX_Request_");
}

static void set_ways(const sk_front *f, const void *host_library)
{
    bool pmpi = sk_setting_on(SK_SET_PMPI);
    for (sk_way *const *at = __start_sk_ways; at < __stop_sk_ways; at++) {
        sk_way *w = *at;
        w->mpi = w->pmpi = w->entry;
        if (!f->host)
            continue;
        void *behind = f->next(w->name + 1), *own = sk_dlsym(f->host, w->name);
        if (pmpi && behind && sk_library_of(behind) != host_library)
            w->mpi = behind;
        if (!pmpi && own && !takes_requests(w->name))
            w->pmpi = own;
    }
}

/* This library is preloaded into a program of another MPI. */
static void stand_aside(const sk_loaded_mpi *host)
{
    if (sk_loaded_first_rank())
        fprintf(stderr,
                "skein: libskein-%s.so does not fit the MPI of the program, %s, which runs without "
                "Skein; preload libskein.so, which finds the right one\n",
                sk_flavour_name(SK_HOST_FLAVOUR), host->soname);
    for (sk_way *const *at = __start_sk_ways; at < __stop_sk_ways; at++) {
        sk_way *w = *at;
        void *mpi = next(w->name + 1), *pmpi = next(w->name);
        w->mpi = mpi ? mpi : (void *)sk_host_missing;
        w->pmpi = pmpi ? pmpi : (void *)sk_host_missing;
    }
}

static bool has(const void *function)
{
    return function != (void *)sk_host_missing;
}

static void start(const sk_front *f, const sk_loaded_mpi *host)
{
    if (host->flavour != SK_HOST_FLAVOUR) {
        stand_aside(host);
        return;
    }
    for (size_t i = 0; i < sizeof host_names / sizeof *host_names; i++) {
        const sk_host_name *n = &host_names[i];
        void *fn = find(f, n->name);
        if (!fn && n->other)
            fn = find(f, n->other);
        if (!fn)
            fn = (void *)sk_host_missing;
        memcpy((char *)&sk_host + n->at, &fn, sizeof fn);
    }
    sk_host.large = has((void *)sk_host.Bcast_c);
    sk_host.persists = has((void *)sk_host.Bcast_init);
    sk_host.persists_large = has((void *)sk_host.Bcast_init_c);
#if defined(SK_HOST_ERRORS_ABORT)
    sk_host.errors_abort = find(f, SK_HOST_ERRORS_ABORT);
#elif defined(MPI_ERRORS_ABORT)
    sk_host.errors_abort = MPI_ERRORS_ABORT;
#endif
    set_ways(f, sk_host_library());
}

bool sk_host_start(void)
{
    static atomic_bool done;
    sk_loaded_mpi host;
    if (atomic_load(&done))
        return true;
    const sk_front f = find_host(&host);
    if (!f.host && !f.next("PMPI_Init"))
        return false;
    if (!atomic_exchange(&done, true))
        start(&f, &host);
    return true;
}

__attribute__((constructor)) static void loaded(void)
{
    sk_host_start();
}

#else

sk_host_table sk_host = {
#define HOST(Name)            .Name = PMPI_##Name,
#define HOST_AS(Name, params) HOST(Name)
#include "mpi/state/host.def"
#undef HOST
#undef HOST_AS
};

bool sk_host_writes_requests(void)
{
    return false;
}

bool sk_host_keeps_comms(void)
{
    return false;
}

#endif
