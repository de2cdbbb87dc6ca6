/* yield.c: preloaded under MPICH when ranks outnumber cores. Debian's MPICH spins without ever
 * giving its core away, so each message can cost a whole time slice; here an idle call of UCX's
 * progress sleeps for an instant. Only speed changes, not what is tested. */
#include <dlfcn.h>
#include <time.h>

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
