/* stream_miniamr.c: a stencil with adaptive refinement. Every step counts blocks on all ranks and
 * sums checksums: allreduce after allreduce of several sizes, with queues of some tens where ranks
 * exchange parts of a vector with many others at once; a handful of messages from neighbours. */
#include "bench/match/script.h"

enum { WIDTH = 64, NEIGHBOURS = 6 };

static void faces(sk_script *s, double at)
{
    sk_script_p2p(s, 8192);
    for (int i = 0; i < NEIGHBOURS; i++)
        sk_script_pair(s, (uint32_t)i + 1, i, at, at + 1.5 * sk_script_share(s) - 0.5);
}

static void step(sk_script *s, uint32_t nranks)
{
    uint32_t width = nranks - 1 < WIDTH ? nranks - 1 : WIDTH;
    double at = 0;
    for (int i = 0; i < 4; i++) {
        faces(s, at);
        sk_script_call(s, SK_KIND_ALLREDUCE, i % 2 ? 1024 : 16384);
        at = sk_script_spread(s, nranks, i % 2 ? width / 2 : width, at + 0.5, 0.4);
    }
    sk_script_call(s, SK_KIND_ALLREDUCE, 8);
    at = sk_script_doubling(s, nranks, at + 2, 0.3);
    switch (sk_script_below(s, 6)) {
    case 0:
        sk_script_call(s, SK_KIND_BCAST, 256);
        sk_script_pair(s, nranks / 2, 0, at + 1, at + sk_script_share(s));
        break;
    case 1:
        sk_script_call(s, SK_KIND_ALLGATHER, 64);
        sk_script_doubling(s, nranks, at + 2, 0.3);
        break;
    case 2:
        sk_script_call(s, SK_KIND_REDUCE, 64);
        sk_script_doubling(s, nranks, at + 2, 0.3);
        break;
    default:
        break;
    }
}

const sk_app sk_app_miniamr = {
    .name = "miniamr",
    .help = "adaptive mesh refinement: allreduce heavy, medium queues, few neighbours",
    .steps = 400,
    .step = step,
};
