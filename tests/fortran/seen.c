/* seen.c: what Skein counted so far, for the Fortran programs. */
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

int skein_seen(long long *served, long long *host);
int host_alltoallw_overruns(void);
int host_serves_arrays(void);
void watch(int seconds);

/* Returns 0 when Skein is not preloaded. When it is, but does not see the program, the counts are 0. */
int skein_seen(long long *served, long long *host)
{
    int (*get)(const char *, long long *);
    *(void **)&get = dlsym(RTLD_DEFAULT, "skein_counter");
    *served = *host = 0;
    if (!get)
        return 0;
    get("served", served);
    get("host", host);
    return 1;
}

/* Open MPI 6: its Fortran layer hangs arrays on the request of an alltoallw. One that has nothing to do,
 * on a single rank, has no room for them: memory behind it is overwritten. */
int host_alltoallw_overruns(void)
{
    return dlsym(RTLD_DEFAULT, "ompi_coll_base_add_release_arrays_cb") != NULL;
}

/* From Open MPI 5 on Skein leaves nonblocking calls with arrays to the host, where its Fortran library is
 * loaded: see sk_host_writes_requests. */
int host_serves_arrays(void)
{
    return dlsym(RTLD_DEFAULT, "mpi_gatherv_init_") && dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
}

/* End a program that hangs. gfortran's `alarm` needs a handler of its own. */
void watch(int seconds)
{
    signal(SIGALRM, SIG_DFL);
    alarm((unsigned)seconds);
}
