/* app_miniamr.c: a stencil with adaptive refinement. Every step counts blocks on all ranks and sums
 * checksums by allreduces of several sizes. The queues hold some tens of items where ranks exchange
 * parts of a vector with many others at once. A few messages come from neighbours. */
#include "lab/match/app.h"

enum { WIDTH = 64, NEIGHBOURS = 6 };

static void faces(sk_timeline *t, double at)
{
    sk_timeline_p2p(t, 8192);
    for (int i = 0; i < NEIGHBOURS; i++)
        sk_timeline_pair(t, (uint32_t)i + 1, i, at, at + 1.5 * sk_timeline_random(t) - 0.5);
}

static void miniamr_step(sk_timeline *t, uint32_t nranks)
{
    uint32_t width = nranks - 1 < WIDTH ? nranks - 1 : WIDTH;
    double at = 0;
    for (int i = 0; i < 4; i++) {
        faces(t, at);
        sk_timeline_coll(t, SK_KIND_ALLREDUCE, i % 2 ? 1024 : 16384);
        at = sk_timeline_all_at_once(t, nranks, i % 2 ? width / 2 : width, at + 0.5, 0.4);
    }
    sk_timeline_coll(t, SK_KIND_ALLREDUCE, 8);
    at = sk_timeline_doubling(t, nranks, at + 2, 0.3);
    switch (sk_timeline_random_below(t, 6)) {
    case 0:
        sk_timeline_coll(t, SK_KIND_BCAST, 256);
        sk_timeline_pair(t, nranks / 2, 0, at + 1, at + sk_timeline_random(t));
        break;
    case 1:
        sk_timeline_coll(t, SK_KIND_ALLGATHER, 64);
        sk_timeline_doubling(t, nranks, at + 2, 0.3);
        break;
    case 2:
        sk_timeline_coll(t, SK_KIND_REDUCE, 64);
        sk_timeline_doubling(t, nranks, at + 2, 0.3);
        break;
    default:
        break;
    }
}

const sk_app sk_app_miniamr = {
    .name = "miniamr",
    .help = "adaptive mesh refinement: allreduce heavy, medium queues, few neighbours",
    .steps = 400,
    .step = miniamr_step,
};
