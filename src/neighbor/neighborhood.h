/* hood.h: a communicator's neighbourhood: the graph, the machine, and the patterns made so far. */
#ifndef SK_NEIGHBORHOOD_H
#define SK_NEIGHBORHOOD_H

#include "neighbor/load.h"
#include "neighbor/method.h"
#include "topo/graph.h"
#include "topo/machine.h"

typedef struct sk_neighborhood {
    const sk_graph *graph;
    const sk_machine *machine;
    const sk_pattern *pattern[SK_NMETHODS]; /* NULL: not made, on any rank */
    sk_load load[SK_NMETHODS];              /* of the patterns made: the largest over all ranks */
    int64_t ride;    /* v and w forms: blocks up to these bytes are combined */
    int64_t typical; /* v and w forms: agreed bytes of a block, for the choice */
    int window;      /* most transfers of a rank under way; 0: no limit */
    int parallel;    /* most edges from one rank to another, at least 1; 0: not known */
    bool lonely;     /* some rank has no neighbours: it does not know the size of equal blocks */
    int64_t version; /* counts changes of all these */
} sk_neighborhood;

#endif
