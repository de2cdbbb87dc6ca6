/* host_errors.h: errors of the host's requests are returned to Skein, not raised.
 *
 * Skein's communicators have MPI_ERRORS_RETURN. MPICH however reports an error that a Wait or Test
 * finds to the handler of MPI_COMM_WORLD, whatever communicator the request belongs to. That handler
 * is the user's, and mostly ends the program. So it is MPI_ERRORS_RETURN while Skein tests requests
 * that may fail; the caller raises the error on the user's communicator later. */
#ifndef SK_HOST_ERRORS_H
#define SK_HOST_ERRORS_H

#include "mpi/state/process.h"

/* The errors of a communicator are returned until its handler is put back. */
MPI_Errhandler sk_host_errors_set_aside(MPI_Comm comm);
void sk_host_errors_put_back(MPI_Comm comm, MPI_Errhandler handler);

#if SK_HOST_RAISES_ON_WORLD
void sk_host_errors_return(void);  /* from here on ... */
void sk_host_errors_restore(void); /* ... to here */
#else
static inline void sk_host_errors_return(void) {}
static inline void sk_host_errors_restore(void) {}
#endif

/* May the host wait in between? With threads it may not: others raise errors meanwhile. */
static inline bool sk_host_errors_may_wait(void)
{
    return !SK_HOST_RAISES_ON_WORLD || !sk_proc.threads;
}

#endif
