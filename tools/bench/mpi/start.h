/* start.h: let all ranks begin at the same moment. Ranks leave a barrier one after the other, the
 * last long after the first where they share cores, and that would be measured with every call. So
 * after a barrier they wait for a moment that rank 0 names. */
#ifndef SK_START_H
#define SK_START_H

#include <stdbool.h>

#include "bench/mpi/clock.h"

typedef struct sk_start {
    double lead;  /* seconds in which all ranks learn of the moment */
    bool crowded; /* ranks share cores: they give way while they wait */
} sk_start;

/* Collective over MPI_COMM_WORLD, as is the next one. */
sk_start sk_start_new(const sk_clock *c);

/* False: this rank came too late. *moment is when they start. */
bool sk_start_together(const sk_clock *c, const sk_start *s, double *moment);

/* After the call: a rank that is done keeps out of the way of those that share its core and are
 * not, for as long again as the lead was. */
void sk_start_rest(const sk_clock *c, const sk_start *s, double moment);

#endif
