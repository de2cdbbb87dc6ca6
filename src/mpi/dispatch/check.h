/* check.h: SKEIN_CHECK: every blocking call runs several times, and the results must be equal.
 *
 *   run     how                                                  compared
 *   first   the long way, with an empty call cache and a fresh   the reference
 *           plan
 *   second  as without SKEIN_CHECK: from the call cache, or      always
 *           with a plan of the plan cache
 *   third   on the host                                          not for neighbourhood collectives,
 *                                                                v and w forms, one rank, and
 *                                                                inexact reductions
 *
 * Before each run the receive buffer is restored, since it may be input too. At the end it holds the
 * result of the first. A difference prints collective, count, algorithm and first differing byte, and
 * aborts the job. All ranks make the same runs. */
#ifndef SK_CHECK_H
#define SK_CHECK_H

#include "mpi/dispatch/dispatch.h"

/* Dispatches a blocking call; `run` is sk_dispatch. Returns what that returns. */
typedef bool sk_dispatch_fn(sk_args *a, MPI_Request *request, int *rc);
bool sk_check_call(sk_args *a, sk_comm *c, sk_dispatch_fn *run, int *rc);

#endif
