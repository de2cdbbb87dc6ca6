/* app_radix.c: a parallel radix sort. Per digit: a histogram over all ranks (allreduce, reduce,
 * reduce_scatter) and the sizes of the blocks to all ranks (iallgather). Almost no point-to-point
 * messages, and queues of about ten items: a rank communicates with few others at a time. */
#include "lab/match/app.h"

static void radix_step(sk_timeline *t, uint32_t nranks)
{
    enum {
        AHEAD = 6
    }; /* blocks of a ring that its neighbour has sent before they were asked for */
    double at = 0;
    sk_timeline_coll(t, SK_KIND_ALLREDUCE, 8);
    at = sk_timeline_doubling(t, nranks, at, 0.3);
    sk_timeline_coll(t, SK_KIND_ALLGATHER, 1024);
    for (int i = 0; i < AHEAD; i++) /* posted together: it is nonblocking */
        sk_timeline_pair(t, nranks - 1, i, at + 0.1, at + (i + 1) * sk_timeline_random(t) / AHEAD);
    at = sk_timeline_doubling(t, nranks, at + 1, 0.5);
    sk_timeline_coll(t, SK_KIND_REDUCE, 4096);
    at = sk_timeline_doubling(t, nranks, at + 2, 0.3);
    sk_timeline_coll(t, SK_KIND_REDUCE_SCATTER, 2048);
    at = sk_timeline_doubling(t, nranks, at + 2, 0.3);
    if (sk_timeline_random_below(t, 8) == 0) {
        sk_timeline_p2p(t, 64);
        sk_timeline_pair(t, nranks - 1, 0, at + 2, at + 1);
    }
}

const sk_app sk_app_radix = {
    .name = "radix",
    .help = "radix sort: iallgather, allreduce, reduce, reduce_scatter; short queues",
    .steps = 500,
    .step = radix_step,
};
