/* yield.c: preloaded under MPICH when ranks outnumber cores. Debian's MPICH spins without ever
 * giving its core away, so each message can cost a whole time slice; here an idle call of UCX's
 * progress sleeps for an instant. Only speed changes, not what is tested.
 *
 * On several hosts (lab/cluster) MPI_Finalize of MPICH 4.0 over UCX often waits for ever, with and without
 * Skein: it flushes its connections, and ranks whose flush is done stop the progress that others'
 * need. There nothing is flushed; test_end sees to it that nothing is under way. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

void *ucp_disconnect_nb(void *ep)
{
    void *(*call)(void *) = NULL;
    if (getenv("CLUSTER_HOSTS") != NULL)
        return NULL; /* done */
    *(void **)&call = dlsym(RTLD_NEXT, "ucp_disconnect_nb");
    return call(ep);
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*_Atomic real)(void *);
    unsigned (*call)(void *) = real;
    if (call == NULL) {
        *(void **)&call = dlsym(RTLD_NEXT, "ucp_worker_progress");
        real = call;
    }
    unsigned done = call(worker);
    if (done == 0)
        nanosleep(&(struct timespec){0, 1}, NULL); /* sched_yield stays within the rank's session */
    return done;
}
