/* await.h: neighbourhood collectives whose patterns must be found first. */
#ifndef SK_AWAIT_H
#define SK_AWAIT_H

#include "mpi/dispatch/args.h"
#include "mpi/state/topo.h"

/* The next set-up begins, at all ranks in the same call. With the lock of the process, where calls are under way. */
void sk_request_setup(sk_topo *t, sk_comm *c);

/* A call: requests a set-up when one is needed. Blocking and persistent calls wait for it, nonblocking calls must not. True: the
 * call can be planned now. */
bool sk_await_setups(const sk_args *a, sk_comm *c, sk_mpi_call *call, sk_status *st);

#endif
