/* dispatch.h: serve a call, or say that the host must. */
#ifndef SK_DISPATCH_H
#define SK_DISPATCH_H

#include "base/attr.h"
#include "mpi/dispatch/args.h"

/* True: the call is served and *rc is what it returns. False: call the host; the report has counted
 * the call already. */
SK_HOT bool sk_dispatch(sk_args *a, MPI_Request *request, int *rc);

/* MPI_Init is over, on all ranks. */
void sk_dispatch_world_created(void);

/* All ranks have created a communicator: adopt it if it is not to make calls before. */
void sk_dispatch_comm_created(MPI_Comm comm);

/* All ranks have created a communicator with a topology: adopt it, and make its patterns now if SKEIN_PLAN or the info key skein_plan
 * says so. */
void sk_dispatch_topo_created(MPI_Comm comm, MPI_Info info);

#endif
