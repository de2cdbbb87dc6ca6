/* method.h: the ways to make a pattern. One file and one row in methods.def each. Both forms of a
 * method give the same patterns: `plan` sees the whole graph, `negotiator` agrees by messages. */
#ifndef SK_METHOD_H
#define SK_METHOD_H

#include "neighbor/negotiation.h"
#include "neighbor/pattern.h"
#include "topo/global_graph.h"
#include "topo/graph.h"
#include "topo/machine.h"

typedef enum sk_method_id {
#define METHOD(ID, name) SK_BY_##ID,
#include "neighbor/methods.def"
#undef METHOD
    SK_NMETHODS
} sk_method_id;

typedef struct sk_pattern_opts {
    int theta;        /* common neighbours that make two ranks friends */
    int friends;      /* ranks in a group of friends: 2 are pairs */
    bool cumulative;  /* onloaded neighbours are combined again */
    const bool *idle; /* by rank: has no neighbours at all, so it may not know the sizes of a call
                       * and is never made a carrier; NULL: there are none such */
} sk_pattern_opts;

typedef struct sk_method {
    const char *name; /* "direct", "common", "halving", "node" */
    const char *about;

    /* The patterns of the given ranks, out[i] that of ranks[i]; on failure none. */
    sk_status (*plan)(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                      const int *ranks, int n, sk_pattern **out);

    /* One rank's part in the distributed protocol; NULL: out of memory. The result is
     * negotiator->made[id]. Graph, machine and options are borrowed until it is freed. */
    sk_negotiator *(*negotiator)(const sk_graph *g, const sk_machine *m, const sk_pattern_opts *o);
} sk_method;

const sk_method *sk_method_get(sk_method_id id);
sk_method_id sk_method_find(const char *name); /* SK_NMETHODS when there is none */

/* The accelerated set-up: the ranks of a node send their targets to the first of them, these
 * exchange them, plan for their nodes, and hand out the patterns. `methods`: a bit per method.
 * `edges`: pairs in the whole graph, agreed before. Results in negotiator->made. */
sk_negotiator *sk_gather_negotiator(const sk_graph *g, const sk_machine *m,
                                    const sk_pattern_opts *o, unsigned methods, int64_t edges);

/* One order of pairs that both ends see alike, so that protocols and plans with the whole graph
 * agree on ties, and no rank is everybody's favourite: compare `count`, larger first, then this,
 * smaller first, then the ranks. Symmetric in a and b. */
static inline uint32_t sk_pair_mix(int a, int b)
{
    uint64_t lo = (uint32_t)(a < b ? a : b), hi = (uint32_t)(a < b ? b : a);
    uint64_t h = (hi << 32 | lo) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 32);
}

#endif
