/* check.h: checks a set of patterns, one per rank, and makes such sets in both forms of a method, with all
 * ranks in this process and without MPI. */
#ifndef SK_LAB_CHECK_H
#define SK_LAB_CHECK_H

#include "lab/neighbor/negotiate.h"
#include "neighbor/method.h"
#include "topo/global_graph.h"
#include "topo/machine.h"

/* True when something is wrong; `why` then says what. Patterns are right when
 * - every outgoing bundle is an incoming one at its peer, with the same stage and blocks, and vice versa;
 * - a rank sends only blocks that are its own or arrived in an earlier stage, and each block once;
 * - a rank gets no block twice, none of its own back, and sends on all that are not for itself;
 * - every edge of g, and nothing else, reaches its destination. */
bool sk_patterns_fault(const sk_global_graph *g, sk_pattern *const *patterns, int n, char *why,
                       size_t size);

/* The patterns of all ranks by `plan`, out[r] that of r; on failure none. */
sk_status sk_patterns_by_plan(sk_method_id id, const sk_global_graph *g, const sk_machine *m,
                              const sk_pattern_opts *o, sk_pattern **out);

/* The same by the distributed protocol. `count` may be NULL. */
sk_status sk_patterns_by_negotiation(sk_method_id id, const sk_global_graph *g, const sk_machine *m,
                                     const sk_pattern_opts *o, unsigned seed, sk_pattern **out,
                                     sk_channel_count *count);

/* The same by any negotiators. `methods`: a bit for each method that they make; the patterns of the k-th of
 * them, counted from 0, go to out[k * nranks ...]. */
typedef sk_negotiator *(*sk_negotiator_maker)(const sk_graph *g, const void *arg);
sk_status sk_patterns_by_negotiators(const sk_global_graph *g, sk_negotiator_maker make,
                                     const void *arg, unsigned methods, unsigned seed,
                                     sk_pattern **out, sk_channel_count *count);

void sk_patterns_free(sk_pattern **patterns, int n); /* and sets them to NULL */

/* A graph by its name: that of sk_spec_new, or "none", "all" (every pair), "ring" (to the next), "to-one"
 * and "from-one" (a star around rank 0), "some" (like random:0.3, but every third rank has no neighbours).
 * NULL: failed, with a message on stderr; likewise for the machine. */
sk_global_graph *sk_check_graph(const char *word, int nranks);
sk_machine *sk_check_machine(const char *text, int nranks);

/* True when the two forms of a method, with every seed from 0 to nseeds - 1, do not make the same patterns,
 * or wrong ones, or when a plan for some ranks differs from the plan for all. */
bool sk_method_fault(sk_method_id id, const char *graph, const char *machine, int nranks,
                     const sk_pattern_opts *o, unsigned nseeds, char *why, size_t size);

#endif
