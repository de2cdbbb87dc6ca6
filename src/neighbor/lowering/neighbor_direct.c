/* neighbor_direct.c: one message per pair of neighbours, straight from the user's buffer into the
 * user's buffer.
 * cost   degree alpha + degree m beta
 * good for  few neighbours, long blocks; the measure of all others
 * rounds 1, or more when a window is set    scratch  none */
#include "neighbor/lowering/neighbor.h"

SK_NEIGHBOR_ALGOS(DIRECT, direct,
                  "one message per pair of neighbours; few neighbours, long blocks");
