/* location.h: where this process sits. */
#ifndef SK_LOCATION_H
#define SK_LOCATION_H

#include "topo/binding.h"
#include "topo/machine.h"

/* `cores`: of this node. */
sk_location sk_location_here(const sk_binding *binding, int *cores);

#endif
