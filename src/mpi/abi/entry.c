/* entry.c: the entry points of the collectives, made from entries.def: blocking, nonblocking and
 * persistent, each also with large counts where the host has them. */
#include <stdatomic.h>

#include "mpi/dispatch/count.h"
#include "mpi/dispatch/dispatch.h"
#include "mpi/dispatch/worth.h"
#include "mpi/state/host.h"
#include "skein.h"

/* One entry point. `host` is the call to make when Skein does not serve it. */
#define DEFINE(fn, COLL, how, params, args, request, host, is_wide, ...)                           \
    SK_HOT SK_ENTRY(fn, params, args)                                                              \
    {                                                                                              \
        int rc;                                                                                    \
        sk_comm *c = sk_worth_passing(comm, SK_##COLL, how);                                       \
        if (c)                                                                                     \
            return sk_worth_passed(c, SK_##COLL, host);                                            \
        sk_args a = {                                                                              \
            .coll = SK_##COLL, .form = (how), .wide = (is_wide), .comm = comm, __VA_ARGS__};       \
        return sk_dispatch(&a, request, &rc) ? rc : sk_count_over(host);                           \
    }

#define COUNT  int
#define COUNTS int
#define DISPLS int

#define ENTRY(Name, name, COLL, params, args, ...)                                                 \
    DEFINE(MPI_##Name, COLL, SK_BLOCKING, params, args, NULL, sk_host.Name args, false, __VA_ARGS__)
#include "mpi/state/entries.def"
#undef ENTRY

#define ENTRY(Name, name, COLL, params, args, ...)                                                 \
    DEFINE(MPI_I##name, COLL, SK_NONBLOCKING, (SK_UNPAREN params, MPI_Request * request),          \
           (SK_UNPAREN args, request), request, sk_host.I##name(SK_UNPAREN args, request), false,  \
           __VA_ARGS__)
#include "mpi/state/entries.def"
#undef ENTRY

#if SK_HAVE_INIT
#define PERSISTENT(fn, Name, COLL, params, args, ...)                                              \
    DEFINE(fn, COLL, SK_PERSISTENT, (SK_UNPAREN params, MPI_Info info, MPI_Request * request),     \
           (SK_UNPAREN args, info, request), request,                                              \
           sk_host.Name##_init(SK_UNPAREN args, info, request), false, __VA_ARGS__)
#define ENTRY(Name, name, COLL, params, args, ...)                                                 \
    PERSISTENT(MPI_##Name##_init, Name, COLL, params, args, __VA_ARGS__)
#include "mpi/state/entries.def"
#undef ENTRY
#if SK_HOST_MPIX_INIT
#define ENTRY(Name, name, COLL, params, args, ...)                                                 \
    PERSISTENT(MPIX_##Name##_init, Name, COLL, params, args, __VA_ARGS__)
#include "mpi/state/entries.def"
#undef ENTRY
#endif

#else
/* The host has no such calls: Skein supplies them, and skein.h declares them. */
static int unsupported(MPI_Comm comm)
{
    sk_host.Comm_call_errhandler(comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}
#define ENTRY(Name, name, COLL, params, args, ...)                                                 \
    DEFINE(MPI_##Name##_init, COLL, SK_PERSISTENT,                                                 \
           (SK_UNPAREN params, MPI_Info info, MPI_Request * request),                              \
           (SK_UNPAREN args, info, request), request, ((void)info, unsupported(comm)), false,      \
           __VA_ARGS__)
#include "mpi/state/entries.def"
#undef ENTRY
#endif

#if SK_HAVE_LARGE
#undef COUNT
#undef COUNTS
#undef DISPLS
#define COUNT         MPI_Count
#define COUNTS        MPI_Count
#define DISPLS        MPI_Aint
#define SK_LARGE_ONLY /* no row for barrier: it has no counts */

#define ENTRY(Name, name, COLL, params, args, ...)                                                 \
    DEFINE(MPI_##Name##_c, COLL, SK_BLOCKING, params, args, NULL, sk_host.Name##_c args, true,     \
           __VA_ARGS__)
#include "mpi/state/entries.def"
#undef ENTRY

#define ENTRY(Name, name, COLL, params, args, ...)                                                 \
    DEFINE(MPI_I##name##_c, COLL, SK_NONBLOCKING, (SK_UNPAREN params, MPI_Request * request),      \
           (SK_UNPAREN args, request), request, sk_host.I##name##_c(SK_UNPAREN args, request),     \
           true, __VA_ARGS__)
#include "mpi/state/entries.def"
#undef ENTRY

#define ENTRY(Name, name, COLL, params, args, ...)                                                 \
    DEFINE(MPI_##Name##_init_c, COLL, SK_PERSISTENT,                                               \
           (SK_UNPAREN params, MPI_Info info, MPI_Request * request),                              \
           (SK_UNPAREN args, info, request), request,                                              \
           sk_host.Name##_init_c(SK_UNPAREN args, info, request), true, __VA_ARGS__)
#include "mpi/state/entries.def"
#undef ENTRY
#endif
