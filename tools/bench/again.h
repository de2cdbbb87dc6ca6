/* again.h: points that looked slow are measured again, in a process each. One run in some has a core less
 * for a while, or memory in other places; what is low again in most runs is low. */
#ifndef SK_BENCH_AGAIN_H
#define SK_BENCH_AGAIN_H

#include "bench/results.h"

/* Whether the point is measured again: correct, and below 0.95 of the host's speed. */
bool sk_again_wanted(const sk_bench_options *o, const sk_result *r);

/* Replaces the times of a point by the medians of n later measurements of it. The first one does not count,
 * because it was chosen for being low. Sorts `later`. n = 0: nothing changes. */
void sk_again_settle(const sk_bench_options *o, sk_result *r, sk_result *later, int n);

#endif
