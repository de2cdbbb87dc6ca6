#include "mpi/state/host_errors.h"

#if SK_HOST_RAISES_ON_WORLD

void sk_host_errors_return(void)
{
    if (sk_proc.threads)
        pthread_mutex_lock(&sk_proc.handler_lock);
    if (sk_proc.handler_users++ == 0) {
        sk_host.Comm_get_errhandler(MPI_COMM_WORLD, &sk_proc.world_handler);
        if (sk_proc.world_handler != MPI_ERRORS_RETURN)
            sk_host.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    if (sk_proc.threads)
        pthread_mutex_unlock(&sk_proc.handler_lock);
}

/* Is it one that the user made? Asking for the handler has made a reference to it. */
static bool is_made(MPI_Errhandler h)
{
    return h != MPI_ERRORS_RETURN && h != MPI_ERRORS_ARE_FATAL
#if MPI_VERSION >= 4
           && h != MPI_ERRORS_ABORT
#endif
        ;
}

void sk_host_errors_restore(void)
{
    if (sk_proc.threads)
        pthread_mutex_lock(&sk_proc.handler_lock);
    if (--sk_proc.handler_users == 0 && sk_proc.world_handler != MPI_ERRORS_RETURN) {
        sk_host.Comm_set_errhandler(MPI_COMM_WORLD, sk_proc.world_handler);
        if (is_made(sk_proc.world_handler))
            sk_host.Errhandler_free(&sk_proc.world_handler);
    }
    if (sk_proc.threads)
        pthread_mutex_unlock(&sk_proc.handler_lock);
}

#endif
