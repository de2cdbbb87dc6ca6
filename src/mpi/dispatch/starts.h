/* starts.h: who may serve the starts of a persistent request, and its guard (persist.h). */
#ifndef SK_STARTS_H
#define SK_STARTS_H

#include "mpi/dispatch/args.h"
#include "mpi/dispatch/request.h"
#include "select/guard.h"

typedef struct sk_starts {
    bool any; /* more than one may */
    sk_guard guard;
    bool tuned;     /* the tuning file has the host serve first */
    sk_plan *other; /* by Skein's other algorithm, or NULL; the caller releases it */
} sk_starts;

/* The same answer on all ranks. */
sk_starts sk_starts_of(const sk_args *a, sk_comm *c);

/* The guard of a request that was made. If the host may serve starts of it, all ranks make the host's request as well. */
void sk_starts_compare(sk_args *a, sk_comm *c, const sk_starts *s, const sk_mpi_call *call,
                       const sk_plan *plan, sk_op *op);

#endif
