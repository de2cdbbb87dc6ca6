/* front.c: see front.h.
 *
 * There is no lock: two threads whose first calls come at once both do the work. They find the same
 * host, the dynamic linker loads the implementation once and lets the second wait until its
 * constructors are done, and both store the same targets. A lock of our own could wait for a thread
 * that holds the dynamic linker's, and be waited for by it. */
#include "front/front.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/mpi_library.h"
#include "report/channel.h"

#define EXPORT __attribute__((visibility("default")))

static struct {
    atomic_bool done;               /* the slots are filled */
    atomic_flag said;               /* why Skein does not serve */
    _Atomic(void *) host;           /* handle of the MPI's library */
    _Atomic(void *) implementation; /* its handle; NULL: the calls go to the host */
    _Atomic(void *) dlopen, dlsym;  /* those of the implementation, or NULL */
} state = {.said = ATOMIC_FLAG_INIT};

static void say(const char *format, ...)
{
    va_list args;
    if (atomic_flag_test_and_set(&state.said) || !sk_loaded_first_rank())
        return;
    va_start(args, format);
    fputs("skein: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* ---- functions that are not there ---- */

static void missing(void)
{
    fputs("skein: the program uses an MPI function that its MPI library does not have\n", stderr);
    abort();
}

static void no_mpi(void)
{
    fputs("skein: the program calls MPI, but no MPI library is in it\n", stderr);
    abort();
}

static long nothing(void)
{
    return 0;
}

/* ---- the implementation ---- */

/* An implementation that is preloaded serves by itself. Those that are loaded here are in no global
 * scope. */
static bool is_preloaded(void)
{
    return sk_dlsym(RTLD_DEFAULT, SK_FRONT_WAY) != NULL;
}

EXPORT sk_front_fn skein_front;
sk_front skein_front(void)
{
    return (sk_front){!is_preloaded(), atomic_load(&state.host), sk_dlsym_next};
}

/* With SKEIN=off nothing of Skein is loaded, unless somebody wants a report, which is to say so. Other
 * words for off are read by the implementation. */
static bool is_off(void)
{
    const char *set = getenv("SKEIN"), *report = getenv("SKEIN_REPORT");
    return set && (!strcmp(set, "off") || !strcmp(set, "0")) && !(report && *report) &&
           !getenv(SK_CHANNEL_VAR);
}

/* NULL: the host serves. */
static void *load_implementation(const sk_loaded_mpi *host)
{
    char file[64];
    if (is_preloaded() || is_off())
        return NULL;
    if (host->flavour == SK_MPI_OTHER) {
        say("%s is not an MPI that Skein knows; the program runs without Skein", host->soname);
        return NULL;
    }
    /* The dynamic linker puts the folder of this library there. */
    snprintf(file, sizeof file, "$ORIGIN/libskein-%s.so", sk_flavour_name(host->flavour));
    void *handle = sk_dlopen_real()(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        say("no library for %s (%s), so the program runs without Skein: %s",
            sk_flavour_title(host->flavour), host->soname, dlerror());
    return handle;
}

/* The definition of a name in the implementation itself, not in what it depends on. */
static void *own(void *implementation, const char *name)
{
    const void *library = sk_library_of(sk_dlsym(implementation, SK_FRONT_WAY));
    void *fn = sk_dlsym(implementation, name);
    return fn && sk_library_of(fn) == library ? fn : NULL;
}

/* ---- the slots ---- */

/* Where a name leads without Skein; NULL: nowhere. */
static void *host_target(void *host, const char *name)
{
    void *fn = sk_dlsym_next(name);
    return fn ? fn : sk_dlsym(host, name);
}

/* Persistent collectives of a host that has only MPIX_ names: skein.h lets programs use the others. */
static void *host_extension(void *host, const char *name)
{
    char other[64];
    bool pmpi = *name == 'P';
    size_t n = strlen(name);
    if (n < 5 || strcmp(name + n - 5, "_init") != 0)
        return NULL;
    snprintf(other, sizeof other, "%sMPIX%s", pmpi ? "P" : "", name + strlen("MPI") + pmpi);
    return host_target(host, other);
}

static bool is_ucp(const char *name)
{
    return *name == 'u';
}

static void fill(void *implementation, void *host)
{
    sk_front_way_fn *way =
        implementation ? (sk_front_way_fn *)sk_dlsym(implementation, SK_FRONT_WAY) : NULL;
    for (sk_front_slot *s = __start_sk_front_slots; s < __stop_sk_front_slots; s++) {
        void *fn = way ? way(s->name) : NULL;
        if (is_ucp(s->name)) {
            fn = way ? own(implementation, s->name) : NULL;
            if (fn)
                atomic_store(&s->target, fn);
            continue;
        }
        fn = fn ? fn : host_target(host, s->name);
        fn = fn ? fn : host_extension(host, s->name);
        atomic_store(&s->target, fn ? fn : (void *)missing);
    }
}

/* False: no MPI is in the process. */
static bool start(void)
{
    sk_loaded_mpi host;
    if (atomic_load(&state.done))
        return true;
    if (!sk_loaded_mpi_find(sk_dlsym_next("PMPI_Init"), &host))
        return false;
    atomic_store(&state.host, host.handle);
    void *implementation = load_implementation(&host);
    atomic_store(&state.implementation, implementation);
    if (implementation) {
        atomic_store(&state.dlopen, own(implementation, "dlopen"));
        atomic_store(&state.dlsym, own(implementation, "dlsym"));
    }
    fill(implementation, host.handle);
    atomic_store(&state.done, true);
    return true;
}

/* UCX may be loaded at any time, or never. */
static void *ucp_target(sk_front_slot *slot)
{
    void *fn = sk_dlsym_next(slot->name);
    fn = fn ? fn : sk_dlsym_in(slot->name, "libucp");
    if (fn)
        atomic_store(&slot->target, fn);
    return fn ? fn : (void *)nothing;
}

void *sk_front_target(sk_front_slot *slot)
{
    if (is_ucp(slot->name))
        return ucp_target(slot);
    return start() ? atomic_load(&slot->target) : (void *)no_mpi;
}

/* ---- dlopen and dlsym ---- */

/* What they do depends on the caller, which the C library reads from the return address. So both end in
 * a jump, which the compiler makes of a call at the end when it optimises. The implementation's do
 * more: see mpi/abi/loader.c. */
#ifdef __OPTIMIZE__

static sk_front_slot *slot_of(const char *name)
{
    for (sk_front_slot *s = __start_sk_front_slots; s < __stop_sk_front_slots; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

static void *dlsym_behind(void *handle, const char *name)
{
    (void)handle;
    return sk_dlsym_next(name);
}

/* The names of this library are there only where the host or the implementation has them. */
static bool is_hidden(void *handle, const char *name, bool started)
{
    sk_front_slot *s = slot_of(name);
    if (!s || (started && atomic_load(&s->target) != (void *)missing))
        return false;
    return handle == RTLD_NEXT ||
           sk_library_of(sk_dlsym(handle, name)) == sk_library_of((void *)skein_front);
}

static void *dlsym_inside(void *handle, const char *name)
{
    (void)handle;
    return sk_dlsym(atomic_load(&state.implementation), name);
}

static void *own_dlopen(const char *file, int mode)
{
    void *fn = atomic_load(&state.dlopen);
    return (fn ? (sk_dlopen_fn *)fn : sk_dlopen_real())(file, mode);
}

static void *dlsym_own_dlopen(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return (void *)own_dlopen;
}

static sk_dlsym_fn *dlsym_target(void *handle, const char *name)
{
    if (sk_name_starts(name, "skein_") && handle == RTLD_DEFAULT &&
        atomic_load(&state.implementation) && strcmp(name, SK_FRONT_WAY) != 0)
        return dlsym_inside;
    if (sk_is_real_dlopen(handle, name))
        return dlsym_own_dlopen;
    if (!sk_name_starts(name, "MPI") && !sk_name_starts(name, "PMPI"))
        return sk_dlsym_real();
    if (is_hidden(handle, name, start()))
        return dlsym_behind;
    void *fn = atomic_load(&state.dlsym);
    return fn ? (sk_dlsym_fn *)fn : sk_dlsym_real();
}

EXPORT void *dlsym(void *restrict handle, const char *restrict name);
EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
    return dlsym_target(handle, name)(handle, name);
}

EXPORT void *dlopen(const char *file, int mode);
EXPORT void *dlopen(const char *file, int mode)
{
    return own_dlopen(file, mode);
}

#endif
