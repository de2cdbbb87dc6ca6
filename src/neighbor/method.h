/* method.h: a method makes patterns. It is a folder method/<name>/ and a row of methods.def.
 *
 * Both forms of a method give the same patterns: `plan` works from the global graph, `negotiator`
 * by messages between the ranks. */
#ifndef SK_METHOD_H
#define SK_METHOD_H

#include "neighbor/negotiation.h"
#include "neighbor/pattern.h"
#include "topo/global_graph.h"
#include "topo/graph.h"
#include "topo/machine.h"

typedef enum sk_method_id {
#define METHOD(ID, name, about) SK_METHOD_##ID,
#include "neighbor/methods.def"
#undef METHOD
    SK_NMETHODS
} sk_method_id;

typedef struct sk_pattern_opts {
    int theta;       /* common neighbours that make two ranks friends */
    int friends;     /* ranks in a group of friends: 2 are pairs */
    bool cumulative; /* combined blocks are combined again */
    const bool
        *idle; /* by rank: it has no neighbours at all. Such a rank may not know the sizes of a
                       * call, so it never carries blocks for others. NULL: there are none such */
} sk_pattern_opts;

struct sk_prediction;    /* cost/predict.h */
struct sk_problem_shape; /* cost/predict.h */

typedef struct sk_method {
    const char *name; /* as in methods.def */

    /* The patterns of the given ranks, out[i] that of ranks[i]. On failure none are made. */
    sk_status (*plan)(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                      const int *ranks, int n, sk_pattern **out);

    /* One rank's part in the distributed protocol; NULL: out of memory. The result is
     * negotiator->made[id]. Graph, machine and options are borrowed until it is freed. */
    sk_negotiator *(*negotiator)(const sk_graph *g, const sk_machine *m, const sk_pattern_opts *o);

    /* Optional: the expected load of the busiest rank, before the pattern is made. A method without
     * it is made only when the user forces it. See cost/predict.h. */
    void (*predict)(struct sk_prediction *p, const struct sk_problem_shape *s);
} sk_method;

const sk_method *sk_method_get(sk_method_id id);
sk_method_id sk_method_find(const char *name); /* SK_NMETHODS when there is none */

/* Breaks ties between pairs of ranks. Plans and protocols order pairs by what they have in common,
 * larger first, then by this number, smaller first, then by the ranks. It is symmetric in a and b, so
 * both ends agree, and pseudo-random, so no rank is everybody's first choice. */
static inline uint32_t sk_pair_mix(int a, int b)
{
    uint64_t lo = (uint32_t)(a < b ? a : b), hi = (uint32_t)(a < b ? b : a);
    uint64_t h = (hi << 32 | lo) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 32);
}

#endif
