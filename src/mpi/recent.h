/* recent.h: the short way for a call just like one before: same arguments but for the buffers. Only
 * for calls whose handles last for ever, so that equal handles mean equal things. A blocking call
 * is kept when its communicator has found its nodes, and has nothing else to see to before it runs,
 * unless it is a neighbourhood collective. */
#ifndef SK_RECENT_H
#define SK_RECENT_H

#include "base/hot.h"
#include "mpi/ready.h"

/* NULL: take the long way. */
SK_HOT sk_ready *sk_recent_find(const sk_args *a, const sk_comm *c);

/* The same of a call just planned; NULL: it is not kept. */
sk_ready *sk_recent_add(const sk_args *a, sk_comm *c, const sk_asked *asked, sk_plan *plan);

void sk_recent_free(struct sk_recent *r);

#endif
