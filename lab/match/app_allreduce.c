/* app_allreduce.c: allreduces, called one after the other: a rank exchanges messages with one rank after the
 * other, and what others sent early waits. */
#include "lab/match/app.h"

static void allreduce_step(sk_timeline *t, uint32_t nranks)
{
    sk_timeline_coll(t, SK_KIND_ALLREDUCE, 8);
    sk_timeline_doubling(t, nranks, 0, 0.3);
}

const sk_app sk_app_allreduce = {
    .name = "allreduce",
    .help = "allreduces, one after the other; short queues",
    .steps = 2000,
    .step = allreduce_step,
};
