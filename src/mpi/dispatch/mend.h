/* mend.h: blocking calls in which the host errs if they are made as the program makes them (flavour.h). Skein serves them
 * well, so the guard must not let the host end the program, or give another result; but it may be faster in them. So they are made in another way,
 * which takes the rank that has the awkward arguments alone: the others need not know. */
#ifndef SK_MEND_H
#define SK_MEND_H

#include "mpi/dispatch/args.h"

bool sk_mend_needed(const sk_call *call);

/* Make it on the host: what that returns. */
int sk_mend_call(const sk_args *a, sk_comm *c);

/* The same for a call that was left to the host, which ends what dispatch has begun to count. Always true: it was made. */
bool sk_mend_run(const sk_args *a, sk_comm *c, int *rc);

#endif
