/* host.h: the functions of the host MPI, and the way calls take through Skein.
 *
 * Skein exports the MPI_ and the PMPI_ names. So it sits where the MPI sits: below tools, which call
 * PMPI_ names, and below the host's Fortran libraries, some of which do so too. The host itself is
 * reached by its library handle, never by a name: all of Skein's own calls go through sk_host. */
#ifndef SK_HOST_H
#define SK_HOST_H

#include <stdbool.h>

#include "mpi/state/flavour.h"

typedef struct sk_host_table {
#define HOST(Name)                   __typeof__(&PMPI_##Name) Name;
#define HOST_AS(Name, params)        int(*Name) params;
#define HOST_OR(Name, other, params) int(*Name) params;
#include "mpi/state/host.def"
#undef HOST
#undef HOST_AS
#undef HOST_OR
    bool large;                    /* it has the _c forms */
    bool persists, persists_large; /* it has persistent collectives; and with large counts */
    MPI_Errhandler errors_abort;   /* MPI_ERRORS_ABORT, if it has one */
} sk_host_table;

/* Filled when the library is loaded, before any call; constant from then on. */
extern sk_host_table sk_host __attribute__((visibility("hidden")));

/* Open MPI's Fortran library, from 5 on, notes in the request of a nonblocking or persistent collective
 * which arrays to free, as if every request were one of Open MPI's own. Is such a library loaded? It was
 * the first to have MPI_GATHERV_INIT. */
bool sk_host_writes_requests(void);

/* Does a persistent receive keep its communicator while the user frees it? That of Open MPI's ob1 does, the one of its
 * UCX does not. Another host, or way to send messages: false. */
bool sk_host_keeps_comms(void);

#if SK_HAVE_NEXT
/* The definition of `name` behind ours: the next one in the search order, or one of a loaded library
 * whose file name starts with `library`, also if it was loaded RTLD_LOCAL. NULL: there is none. */
void *sk_host_find_loaded(const char *name, const char *library);

/* The definition in the host's library, or in one that it depends on. NULL: there is none. */
void *sk_host_find_own(const char *name);

/* Where the two names of an entry point lead. Usually both lead to Skein's function. If a tool behind
 * Skein in the search order wraps the MPI_ name, that name leads to the tool, whose PMPI_ call comes
 * back. With SKEIN_PMPI=off the PMPI_ name leads to the host. */
typedef struct sk_way {
    const char *name; /* "PMPI_..." */
    void *entry;      /* Skein's function */
    void *mpi, *pmpi;
} sk_way;

/* Fill sk_host and the ways, if that is not done. A constructor of this library does it if the host is
 * loaded; else the first call does. False: no MPI is loaded. */
bool sk_host_start(void);
_Noreturn void sk_host_missing(void); /* the host does not have the function that is called */

/* Skein's function for a name of the host, "MPI_..." or "PMPI_...". NULL: it has none. */
void *sk_host_entry(const char *name);

const void *sk_host_library(void); /* where it is in memory: see sk_library_of */

/* The section holds pointers, because the compiler may put gaps between objects. */
#define SK_WAY(fn)                                                                                 \
    static sk_way way_##fn = {"P" #fn, (void *)entry_##fn, (void *)early_##fn,                     \
                              (void *)early_P##fn};                                                \
    static sk_way *const way_at_##fn __attribute__((section("sk_ways"), used)) = &way_##fn

/* What a name leads to until sk_host_start was called. */
#define SK_EARLY(fn, early, params, args, to)                                                      \
    __attribute__((cold)) static int early params                                                  \
    {                                                                                              \
        if (!sk_host_start())                                                                      \
            sk_host_missing();                                                                     \
        return ((__typeof__(&entry_##fn))way_##fn.to)args;                                         \
    }

/* An entry point; its body follows. Both exported names are one indirect jump. */
#define SK_ENTRY(fn, params, args) SK_ENTRY_(fn, params, args)
#define SK_ENTRY_(fn, params, args)                                                                \
    static int entry_##fn params;                                                                  \
    static int early_##fn params;                                                                  \
    static int early_P##fn params;                                                                 \
    SK_WAY(fn);                                                                                    \
    SK_EARLY(fn, early_##fn, params, args, mpi)                                                    \
    SK_EARLY(fn, early_P##fn, params, args, pmpi)                                                  \
    SK_EXPORT int P##fn params                                                                     \
    {                                                                                              \
        return ((__typeof__(&entry_##fn))way_##fn.pmpi)args;                                       \
    }                                                                                              \
    SK_EXPORT int fn params                                                                        \
    {                                                                                              \
        return ((__typeof__(&entry_##fn))way_##fn.mpi)args;                                        \
    }                                                                                              \
    static int entry_##fn params

/* The function itself, for calls from within Skein. */
#define SK_BODY(fn)  SK_BODY_(fn)
#define SK_BODY_(fn) entry_##fn
#else
#define SK_ENTRY(fn, params, args) SK_EXPORT int fn params
#define SK_BODY(fn)                fn
#endif

#endif
