/* app_fds.c: rank 0 of a fire simulation. All ranks send it their results by gather and gatherv,
 * one variable after the other, and do not wait for it. While rank 0 waits for the slowest rank of
 * the first call, messages of the later calls accumulate in the unexpected queue, and the messages
 * of its neighbours must be found among them. An allgatherv and an allreduce end the step, so no
 * rank runs ahead further. */
#include "lab/match/app.h"
#include "lab/match/random.h"

enum { GATHERS = 4, NEIGHBOURS = 26, MESSAGES = 8 };

/* A rank sends its results call by call; rank 0 starts a call when it has all of the one before. */
static double gathers(sk_timeline *t, uint32_t nranks)
{
    const double gap = 0.05, spread = 1;
    const uint64_t salt = (uint64_t)sk_timeline_random_below(t, UINT32_MAX) << 32;
    double at = 0.1;
    for (int call = 0; call < GATHERS; call++) {
        double last = at;
        sk_timeline_coll(t, call ? SK_KIND_GATHERV : SK_KIND_GATHER, 512);
        for (uint32_t i = 1; i < nranks; i++) {
            /* A rank is as late in all calls of a step: its messages keep their order. */
            uint64_t rank = salt + i;
            double late = spread * sk_random_share(&rank);
            double arrives = 0.12 + late + gap * call + gap * sk_timeline_random(t) / 2;
            sk_timeline_pair(t, i, 0, at, arrives);
            last = arrives > last ? arrives : last;
        }
        at = last + 0.01;
    }
    return at;
}

/* Most receives of an exchange are posted before the gathers, the others after. */
static void exchange(sk_timeline *t, uint32_t nranks, double end)
{
    uint32_t neighbours = nranks - 1 < NEIGHBOURS ? nranks - 1 : NEIGHBOURS;
    sk_timeline_p2p(t, 4096);
    for (int tag = 0; tag < MESSAGES; tag++)
        for (uint32_t i = 0; i < neighbours; i++)
            sk_timeline_pair(t, 1 + i, tag, tag % 4 == 3 ? end : 0,
                             end * (tag + sk_timeline_random(t)) / MESSAGES);
}

static void fds_step(sk_timeline *t, uint32_t nranks)
{
    double at = gathers(t, nranks);
    exchange(t, nranks, at);
    sk_timeline_coll(t, SK_KIND_ALLGATHERV, 1024);
    at = sk_timeline_doubling(t, nranks, at + 3, 0.3);
    sk_timeline_coll(t, SK_KIND_ALLREDUCE, 8);
    sk_timeline_doubling(t, nranks, at + 3, 0.3);
}

const sk_app sk_app_fds = {
    .name = "fds",
    .help = "fire simulation, rank 0: all ranks gather(v) to it; long queues",
    .steps = 100,
    .step = fds_step,
};
