/* location.h: where this process sits. */
#ifndef SK_LOCATION_H
#define SK_LOCATION_H

#include "topo/machine.h"

sk_location sk_location_here(int *cores); /* `cores`: of this node */

/* The cpus this process may run on, and a number that tells sets apart. 0: not known. */
int sk_location_cpus(uint64_t *which);

#endif
