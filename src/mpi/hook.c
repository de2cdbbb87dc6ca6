/* hook.c: progress from inside the host. Skein's own loops in wait.c, p2p.c and create.c work over
 * any MPI, but cannot reach every call that blocks: windows, files, MPI_Comm_create_group, a
 * collective that was switched off. Where the host's progress engine lets others in, Skein's
 * collectives go on there too. sk_progress does nothing when it is called from within itself. */
#include "mpi/hook.h"

#include <stdatomic.h>

#include "mpi/next.h"
#include "mpi/request.h"

#if defined(SKEIN_FLAVOUR_OPENMPI)
#include <dlfcn.h>

/* What Open MPI's own nonblocking collectives use; looked up, since no header declares it. */
typedef int register_fn(int (*callback)(void));

static int callback(void)
{
    sk_progress();
    return 0;
}

static void call(const char *name)
{
    register_fn *fn = (register_fn *)dlsym(RTLD_DEFAULT, name);
    if (fn)
        fn(callback);
}

void sk_hook_in(void)
{
    if (!atomic_exchange(&sk_proc.hooked, true))
        call("opal_progress_register");
}

void sk_hook_out(void)
{
    call("opal_progress_unregister");
}

bool sk_hook_works(void)
{
    return dlsym(RTLD_DEFAULT, "opal_progress_register") != NULL;
}

#elif defined(SKEIN_FLAVOUR_MPICH)
#include <dlfcn.h>

/* MPICH has no such place, but over UCX its progress is this function of UCX. With several threads
 * MPICH holds a lock around it that it will not take twice. */
bool sk_hook_works(void)
{
    return !sk_proc.threads && dlsym(RTLD_NEXT, "ucp_worker_progress") != NULL;
}

void sk_hook_in(void)
{
    sk_proc.hooked = sk_hook_works();
}

void sk_hook_out(void)
{
    sk_proc.hooked = false;
}

SK_EXPORT unsigned ucp_worker_progress(void *worker);
SK_EXPORT unsigned ucp_worker_progress(void *worker)
{
    typedef unsigned progress_fn(void *);
    static _Atomic(progress_fn *) found;
    progress_fn *fn = atomic_load_explicit(&found, memory_order_relaxed);
    if (!fn) {
        fn = (progress_fn *)sk_next_find("ucp_worker_progress", "ucp_worker_progress");
        atomic_store_explicit(&found, fn, memory_order_relaxed);
    }
    unsigned events = fn(worker);
    if (sk_proc.hooked)
        sk_progress();
    return events;
}

#else

void sk_hook_in(void) {}

void sk_hook_out(void) {}

bool sk_hook_works(void)
{
    return false;
}

#endif
