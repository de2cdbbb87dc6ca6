/* host_progress.c: progress from inside the host. Skein's own loops in the calls that wait, receive
 * and create communicators work over any MPI, but they cannot reach every call that blocks: windows,
 * files, MPI_Comm_create_group, a collective that is switched off. Where the host's progress engine
 * calls others, Skein's collectives progress there too. sk_progress does nothing when it is called
 * from within itself. */
#include "mpi/state/host_progress.h"

#include <stdatomic.h>

#include "mpi/state/host.h"
#include "mpi/state/process.h"

#if defined(SKEIN_FLAVOUR_OPENMPI)
#include <dlfcn.h>

/* Open MPI's own nonblocking collectives use this. No header declares it, so it is looked up. */
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

void sk_host_hook_install(void)
{
    if (!atomic_load_explicit(&sk_proc.hooked, memory_order_relaxed) &&
        !atomic_exchange(&sk_proc.hooked, true))
        call("opal_progress_register");
}

void sk_host_hook_remove(void)
{
    call("opal_progress_unregister");
}

bool sk_host_hook_available(void)
{
    return dlsym(RTLD_DEFAULT, "opal_progress_register") != NULL;
}

#elif defined(SKEIN_FLAVOUR_MPICH)

/* MPICH has no such interface, but over UCX its progress is the function ucp_worker_progress of UCX,
 * which Skein interposes. With several threads MPICH calls it with a lock held that it does not take
 * twice. */
typedef unsigned sk_ucp_progress_fn(void *);

static sk_ucp_progress_fn *find_ucp(void)
{
    static _Atomic(sk_ucp_progress_fn *) found;
    sk_ucp_progress_fn *fn = atomic_load_explicit(&found, memory_order_relaxed);
    if (!fn) {
        fn = (sk_ucp_progress_fn *)sk_host_find_loaded("ucp_worker_progress", "libucp");
        atomic_store_explicit(&found, fn, memory_order_relaxed);
    }
    return fn;
}

/* A libucp that MPICH does not depend on is not its progress. */
bool sk_host_hook_available(void)
{
    return !sk_proc.threads && sk_host_find_own("ucp_worker_progress") != NULL;
}

void sk_host_hook_install(void)
{
    if (!sk_proc.hooked)
        sk_proc.hooked = sk_host_hook_available();
}

void sk_host_hook_remove(void)
{
    sk_proc.hooked = false;
}

SK_EXPORT unsigned ucp_worker_progress(void *worker);
SK_EXPORT unsigned ucp_worker_progress(void *worker)
{
    sk_ucp_progress_fn *fn = find_ucp();
    unsigned events = fn ? fn(worker) : 0;
    if (sk_proc.hooked)
        sk_progress();
    return events;
}

#else

void sk_host_hook_install(void) {}

void sk_host_hook_remove(void) {}

bool sk_host_hook_available(void)
{
    return false;
}

#endif
