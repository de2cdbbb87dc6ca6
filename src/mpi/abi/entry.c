/* entry.c: the entry points of the collectives, made from entries.def: blocking, nonblocking and
 * persistent, each also with large counts where the host has them. */
#include <stdatomic.h>

#include "base/attr.h"
#include "mpi/dispatch/by_host.h"
#include "mpi/dispatch/call_cache.h"
#include "mpi/dispatch/count.h"
#include "mpi/dispatch/dispatch.h"
#include "mpi/dispatch/worth.h"
#include "mpi/state/host.h"
#include "skein.h"

typedef enum way { LONG_WAY, OVER, TO_HOST } way;

/* A call that moves nothing, counted by the guard. */
static SK_INLINED way nothing_again(sk_comm *c, sk_descriptor *x, sk_form form,
                                    MPI_Request *request, int *rc)
{
    *rc = MPI_SUCCESS;
    if (form == SK_BLOCKING) {
        sk_comm_next(c); /* all ranks must count alike */
        sk_count_served(x->plan, x->counter, 0, c);
        return OVER;
    }
    sk_op *op = sk_op_nothing(c, x->plan, x->counter);
    if (!op) {
        sk_guarded_uncount(x->guarded); /* the long way counts the call */
        return LONG_WAY;
    }
    *request = op->handle;
    return OVER;
}

/* The shortest way: a call just like the last one of its collective that was found in the call cache. It is
 * one epoch in shared memory, or nothing at all, or the host serves it because it is faster. Inlined into each entry point, so
 * that the arguments stay in registers. */
static SK_INLINED way last_again(sk_comm *c, sk_args a, MPI_Request *request, int *rc)
{
    if (a.form == SK_PERSISTENT || sk_coll_neighbor(a.coll))
        return LONG_WAY;
    if (!c || !c->cache || atomic_load_explicit(&sk_proc.devices, memory_order_relaxed) ||
        sk_proc.reporting)
        return LONG_WAY;
    if (a.form == SK_NONBLOCKING && sk_host_starts(c, a.coll) && !sk_hint_wanted())
        return TO_HOST;
    struct sk_call_entry *p = c->cache->last[a.form][a.coll];
    sk_args_clear_insignificant(&a, c);
    if (!p || !sk_call_entry_matches(p, &a))
        return LONG_WAY;
    sk_descriptor *x = &p->descriptor;
    void *send = (void *)(uintptr_t)a.sbuf;
    if (SK_UNLIKELY(!x->one_epoch || !sk_guarded_quiet(x->guarded))) {
        if (x->nothing && sk_guarded_quiet(x->guarded))
            return nothing_again(c, x, a.form, request, rc);
        return !sk_hint_wanted() && !x->mends && sk_guarded_passes(x->guarded) ? TO_HOST : LONG_WAY;
    }
    if (a.form == SK_BLOCKING) {
        *rc = sk_descriptor_run_epoch(x, c, send, a.rbuf, 0);
        return OVER;
    }
    sk_op *op = sk_op_at_once(c, x->plan, x->counter, &x->wire, true, send, a.rbuf);
    if (!op) {
        sk_guarded_uncount(x->guarded); /* the long way counts the call */
        return LONG_WAY;
    }
    *request = op->handle;
    *rc = MPI_SUCCESS;
    return OVER;
}

/* One entry point. `host` is the call to make when Skein does not serve it. What takes longer is a function of
 * its own, so that the shortest way stores no arguments. */
#define ARGS(COLL, how, is_wide, ...)                                                              \
    {                                                                                              \
        .coll = SK_##COLL, .form = (how), .wide = (is_wide), .comm = comm, __VA_ARGS__             \
    }
#define DEFINE(fn, COLL, how, params, args, request, host, is_wide, ...)                           \
    SK_HOT __attribute__((noinline)) static int long_##fn params                                   \
    {                                                                                              \
        int rc;                                                                                    \
        sk_args a = ARGS(COLL, how, is_wide, __VA_ARGS__);                                         \
        bool served = sk_dispatch(&a, request, &rc);                                               \
        if (served && ((how) != SK_PERSISTENT || !a.also))                                         \
            return rc;                                                                             \
        rc = host;                                                                                 \
        if (served)                                                                                \
            return sk_by_host_add(a.also, rc, request);                                            \
        if (SK_UNLIKELY(a.timed))                                                                  \
            sk_guarded_over(a.timed);                                                              \
        return sk_count_over(rc);                                                                  \
    }                                                                                              \
    SK_HOT __attribute__((noinline)) static int young_##fn params                                  \
    {                                                                                              \
        sk_args a = ARGS(COLL, how, is_wide, __VA_ARGS__);                                         \
        sk_comm *passing = sk_worth_passing(a, sk_comm_known(comm));                               \
        return passing ? sk_worth_passed(passing, SK_##COLL, host) : long_##fn args;               \
    }                                                                                              \
    SK_HOT SK_ENTRY(fn, params, args)                                                              \
    {                                                                                              \
        int rc;                                                                                    \
        sk_args a = ARGS(COLL, how, is_wide, __VA_ARGS__);                                         \
        sk_comm *c = sk_comm_known(comm);                                                          \
        switch (last_again(c, a, request, &rc)) {                                                  \
        case OVER:                                                                                 \
            return rc;                                                                             \
        case TO_HOST:                                                                              \
            sk_count_pass(SK_##COLL, SK_HOST_FASTER);                                              \
            return host;                                                                           \
        default:                                                                                   \
            return c && !c->passing ? long_##fn args : young_##fn args;                            \
        }                                                                                          \
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
