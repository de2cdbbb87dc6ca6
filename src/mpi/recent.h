/* recent.h: the short way to the plan of a call just like one before: same arguments but for the
 * buffers. Only for calls whose handles last for ever, so that equal handles mean equal things. */
#ifndef SK_RECENT_H
#define SK_RECENT_H

#include "base/hot.h"
#include "mpi/args.h"

/* The plan, with out->handles, send and recv set; NULL: take the long way. */
SK_HOT sk_plan *sk_recent_find(const sk_args *a, sk_comm *c, sk_asked *out);
void sk_recent_free(struct sk_recent *r);
void sk_recent_add(const sk_args *a, sk_comm *c, const sk_asked *asked, sk_plan *plan);

#endif
