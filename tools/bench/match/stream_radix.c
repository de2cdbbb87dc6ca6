/* stream_radix.c: a parallel radix sort. Per digit: a histogram over all ranks (allreduce, reduce,
 * reduce_scatter) and the blocks' sizes to everyone (iallgather). Almost no point-to-point
 * messages, and queues of about ten: a rank talks to few others at a time. */
#include "bench/match/script.h"

static void step(sk_script *s, uint32_t nranks)
{
    enum {
        AHEAD = 6
    }; /* blocks of a ring that its neighbour has sent before they were asked for */
    double at = 0;
    sk_script_call(s, SK_KIND_ALLREDUCE, 8);
    at = sk_script_doubling(s, nranks, at, 0.3);
    sk_script_call(s, SK_KIND_ALLGATHER, 1024);
    for (int i = 0; i < AHEAD; i++) /* posted together: it is nonblocking */
        sk_script_pair(s, nranks - 1, i, at + 0.1, at + (i + 1) * sk_script_share(s) / AHEAD);
    at = sk_script_doubling(s, nranks, at + 1, 0.5);
    sk_script_call(s, SK_KIND_REDUCE, 4096);
    at = sk_script_doubling(s, nranks, at + 2, 0.3);
    sk_script_call(s, SK_KIND_REDUCE_SCATTER, 2048);
    at = sk_script_doubling(s, nranks, at + 2, 0.3);
    if (sk_script_below(s, 8) == 0) {
        sk_script_p2p(s, 64);
        sk_script_pair(s, nranks - 1, 0, at + 2, at + 1);
    }
}

const sk_app sk_app_radix = {
    .name = "radix",
    .help = "radix sort: iallgather, allreduce, reduce, reduce_scatter; short queues",
    .steps = 500,
    .step = step,
};
