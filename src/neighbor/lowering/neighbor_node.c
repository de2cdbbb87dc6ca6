/* neighbor_node.c: blocks for the same node travel in one message per pair of nodes; a node's
 * messages are spread over its ranks.
 * cost   alpha per node-local rank to collect from and to hand out to, and for this rank's share of the
 *        pairs of nodes; every block crosses the network once
 * good for  short blocks, several ranks on a node
 * rounds 3    scratch  the combined blocks
 * See pattern/node.c */
#include "neighbor/lowering/neighbor.h"

SK_NEIGHBOR_ALGOS(NODE, node,
                  "one message per pair of nodes, spread over the ranks of the node; short blocks, "
                  "many ranks on a node");
