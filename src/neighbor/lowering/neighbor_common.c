/* neighbor_common.c: ranks with many common neighbours are friends: each sends the blocks of both
 * to one half of the common neighbours.
 * cost   about (degree - saved) alpha, where saved is half of the common neighbours, less the
 *        exchange between friends; the bytes of direct, plus those exchanged
 * good for  short blocks, neighbourhoods that overlap
 * rounds 2 for pairs of friends    scratch  the combined blocks
 * paper  common-neighbourhoods, Algorithms 1 to 3; see pattern/common.c */
#include "neighbor/lowering/neighbor.h"

SK_NEIGHBOR_ALGOS(COMMON, common,
                  "friends send to common neighbours for each other; short blocks, overlapping "
                  "neighbourhoods");
