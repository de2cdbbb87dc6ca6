/* neighbor_halving.c: blocks for the other half of the ranks go to one agent there, half by half,
 * until the halves are sockets; inside the socket each rank passes on what it has for the others.
 * cost   at most ceil(lg(n / L)) + 1 messages off the socket, L ranks being a socket, and fewer
 * than L inside; blocks travel several times good for  short blocks, dense graphs, many sockets
 * rounds ceil(lg(n / L)) + 1    scratch  the combined blocks
 * paper  distance-halving, Algorithms 1 to 4; see pattern/halving.c */
#include "neighbor/lowering/neighbor.h"

SK_NEIGHBOR_ALGOS(HALVING, halving,
                  "blocks for the other half of the machine go to one agent there, then halves of "
                  "halves; short blocks, dense graphs");
