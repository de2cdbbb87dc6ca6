/* neighborhood.h: the neighbourhood of a communicator: the graph, the machine, and the patterns made
 * so far. */
#ifndef SK_NEIGHBORHOOD_H
#define SK_NEIGHBORHOOD_H

#include "coll/call.h"
#include "neighbor/cost/model.h"
#include "neighbor/method.h"
#include "topo/graph.h"
#include "topo/machine.h"

typedef struct sk_neighborhood {
    sk_neighborhood_base base; /* what calls refer to */
    const sk_machine *machine;
    const sk_pattern *pattern[SK_NMETHODS]; /* NULL: not made, on any rank */
    sk_load load[SK_NMETHODS];              /* of the patterns made: the largest over all ranks */
    int64_t combine_limit;                  /* v and w forms: longer blocks are not combined */
    int window;                             /* most transfers of a rank under way; 0: no limit */
    int parallel;    /* most edges from one rank to another, at least 1; 0: not known */
    int most;        /* neighbours of the busiest rank, one way; 0: not known */
    bool some_idle;  /* some rank has no neighbours: it does not know the size of equal blocks */
    int64_t version; /* counts changes of all these */
} sk_neighborhood;

/* The neighbourhood of a neighbourhood collective; NULL for other calls. */
static inline const sk_neighborhood *sk_neighborhood_of(const sk_call *c)
{
    return (const sk_neighborhood *)c->neighborhood;
}

#endif
