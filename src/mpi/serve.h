/* serve.h: serve a call, or say that the host must. */
#ifndef SK_SERVE_H
#define SK_SERVE_H

#include "base/hot.h"
#include "mpi/args.h"

typedef enum sk_form { SK_BLOCKING, SK_NONBLOCKING, SK_PERSISTENT } sk_form;

/* True: the call is served and *rc is what it returns. False: call the host; it has been counted.
 */
SK_HOT bool sk_serve(sk_args *a, sk_form form, MPI_Request *request, int *rc);

/* A communicator with a topology was made: make its patterns now if SKEIN_PLAN or the info key
 * skein_plan says so. */
void sk_plan_ahead(MPI_Comm comm, MPI_Info info);

#endif
