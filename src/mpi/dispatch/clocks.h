/* clocks.h: nodes have clocks of their own. */
#ifndef SK_CLOCKS_H
#define SK_CLOCKS_H

#include <stdint.h>

/* How many ns the clock of rank 0 is ahead of this rank's. Collective over MPI_COMM_WORLD: rank 0 asks the first rank
 * of each other node a few times. Of all answers the quickest is off by at most half its round trip. 0 on the node of
 * rank 0, or if it cannot be found. */
int64_t sk_clocks_compare(void);

#endif
