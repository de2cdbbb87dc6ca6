#include "mpi/state/host_errors.h"

/* Is it one that the user made? Asking for the handler has made a reference to it. */
static bool is_made(MPI_Errhandler h)
{
    return h != MPI_ERRORS_RETURN && h != MPI_ERRORS_ARE_FATAL && h != sk_host.errors_abort;
}

MPI_Errhandler sk_host_errors_set_aside(MPI_Comm comm)
{
    MPI_Errhandler handler;
    sk_host.Comm_get_errhandler(comm, &handler);
    if (handler != MPI_ERRORS_RETURN)
        sk_host.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return handler;
}

void sk_host_errors_put_back(MPI_Comm comm, MPI_Errhandler handler)
{
    if (handler == MPI_ERRORS_RETURN)
        return;
    sk_host.Comm_set_errhandler(comm, handler);
    if (is_made(handler))
        sk_host.Errhandler_free(&handler);
}

#if SK_HOST_RAISES_ON_WORLD

void sk_host_errors_return(void)
{
    if (sk_proc.threads)
        pthread_mutex_lock(&sk_proc.handler_lock);
    if (sk_proc.handler_users++ == 0)
        sk_proc.world_handler = sk_host_errors_set_aside(MPI_COMM_WORLD);
    if (sk_proc.threads)
        pthread_mutex_unlock(&sk_proc.handler_lock);
}

void sk_host_errors_restore(void)
{
    if (sk_proc.threads)
        pthread_mutex_lock(&sk_proc.handler_lock);
    if (--sk_proc.handler_users == 0)
        sk_host_errors_put_back(MPI_COMM_WORLD, sk_proc.world_handler);
    if (sk_proc.threads)
        pthread_mutex_unlock(&sk_proc.handler_lock);
}

#endif
