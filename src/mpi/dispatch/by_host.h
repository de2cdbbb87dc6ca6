/* by_host.h: a start of a persistent collective that the host serves, by its own request: see persist.h. */
#ifndef SK_BY_HOST_H
#define SK_BY_HOST_H

#include "mpi/dispatch/request.h"

/* The host was asked for its own persistent request, which is *request now if `rc` says so; Skein's comes back
 * there. The call was well made in any case. */
int sk_by_host_add(sk_op *op, int rc, MPI_Request *request);

/* The progress does not know of it: wait until it is over, or see whether it is. */
void sk_by_host_wait(sk_op *op);
void sk_by_host_test(sk_op *op);

/* The same for the progress. */
sk_status sk_by_host_poll(sk_op *op);

#endif
