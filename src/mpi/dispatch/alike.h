/* alike.h: blocking and nonblocking calls that the host serves because it was faster, and that differ from an earlier one only in sizes and
 * buffers. Where sizes change from call to call none is in the call cache, and to read one as for a plan takes longer than
 * a short call. Here only that is looked at which says to what cell of the guard it belongs, and that the host
 * will not refuse it: such a call must not be counted.
 *
 * Not for calls in place, with arrays of types, or with types or operations of the user, which may be freed. */
#ifndef SK_ALIKE_H
#define SK_ALIKE_H

#include "mpi/dispatch/guarded.h"

/* The host serves a call of this cell that was read. Others like it need not be, if it is the faster one. False: they must
 * be. */
bool sk_alike_keep(sk_comm *c, const sk_args *a, const sk_mpi_call *call, sk_guarded *g);

/* The cell of a call that need not be read, and of which the host serves the next call. The call is counted. NULL: take
 * the long way. What is not significant has been cleared. */
sk_guarded *sk_alike_passes(const sk_comm *c, const sk_args *a);

#endif
