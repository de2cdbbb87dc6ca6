/* gather.h: the patterns of all methods at once, planned by one rank per node. */
#ifndef SK_GATHER_H
#define SK_GATHER_H

#include "neighbor/method.h"

/* The ranks of a node send their targets to the first of them, the leader. The leaders exchange them,
 * plan for their nodes, and send out the patterns. `methods`: a bit per method. `edges`: pairs in the
 * global graph, agreed before. The results are in negotiator->made. */
sk_negotiator *sk_gather_negotiator(const sk_graph *g, const sk_machine *m,
                                    const sk_pattern_opts *o, unsigned methods, int64_t edges);

#endif
