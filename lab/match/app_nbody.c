/* app_nbody.c: an N-body simulation, mostly point-to-point. The particles of the cells around come
 * in many messages, those far away in one message each. All receives are posted at once, and
 * messages arrive in any order. Some allgathers of the boxes, and small reductions and
 * broadcasts. */
#include "lab/match/app.h"

enum { NEAR = 26, MESSAGES = 6, FAR = 64, GATHER = 10 };

static void particles(sk_timeline *t, uint32_t nranks)
{
    uint32_t near = nranks - 1 < NEAR ? nranks - 1 : NEAR;
    sk_timeline_p2p(t, 2048);
    for (int tag = 0; tag < MESSAGES; tag++)
        for (uint32_t i = 0; i < near; i++)
            sk_timeline_pair(t, 1 + i, tag, 0,
                             (2 * tag - 1 + 4 * sk_timeline_random(t)) / MESSAGES);
    for (uint32_t i = 0; i < FAR && nranks > near + 1; i++)
        sk_timeline_pair(t, 1 + near + sk_timeline_random_below(t, nranks - 1 - near), MESSAGES,
                         0.01, 3 * sk_timeline_random(t) - 0.5);
}

static void nbody_step(sk_timeline *t, uint32_t nranks)
{
    particles(t, nranks);
    sk_timeline_coll(t, SK_KIND_ALLGATHER, 96);
    double at = sk_timeline_all_at_once(t, nranks, GATHER, 0.2, 0.4);
    sk_timeline_coll(t, SK_KIND_ALLREDUCE, 8);
    at = sk_timeline_doubling(t, nranks, at + 2, 0.2);
    if (sk_timeline_random_below(t, 8) == 0) {
        sk_timeline_coll(t, SK_KIND_BCAST, 4096);
        sk_timeline_pair(t, nranks / 2, 0, at + 1, at + sk_timeline_random(t));
        sk_timeline_coll(t, SK_KIND_REDUCE, 64);
        sk_timeline_doubling(t, nranks, at + 3, 0.2);
    }
}

const sk_app sk_app_nbody = {
    .name = "nbody",
    .help = "N-body: mostly point-to-point, some allgather, allreduce, bcast, reduce",
    .steps = 400,
    .step = nbody_step,
};
