/* call_cache.h: the descriptors of recent calls, so that a call just like an earlier one, with equal
 * arguments except for the buffers, takes the short way.
 *
 * Only calls whose handles are all predefined are cached, because only then equal handles mean equal
 * objects. A blocking call is cached once discovery has run on its communicator. A cached call needs
 * nothing before it runs, except for the set-ups of neighbourhood collectives. */
#ifndef SK_CALL_CACHE_H
#define SK_CALL_CACHE_H

#include "base/attr.h"
#include "mpi/dispatch/descriptor.h"

/* NULL: take the long way. */
SK_HOT sk_descriptor *sk_call_cache_find(const sk_args *a, const sk_comm *c);

/* Add a call that was just planned. NULL: it is not cached. */
sk_descriptor *sk_call_cache_add(const sk_args *a, sk_comm *c, const sk_mpi_call *call,
                                 sk_plan *plan);

#endif
