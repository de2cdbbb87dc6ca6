/* stream_fds.c: rank 0 of a fire simulation. All ranks send it their results by gather and gatherv,
 * one variable after the other, and do not wait for it: while rank 0 still waits for the slowest
 * rank of the first call, messages of the later calls pile up. Its own neighbours' messages have to
 * be found among them. An allgatherv and an allreduce end the step, so nobody runs ahead further.
 */
#include "bench/match/random.h"
#include "bench/match/script.h"

enum { GATHERS = 4, NEIGHBOURS = 26, MESSAGES = 8 };

/* A rank sends its results call by call; rank 0 starts a call when it has all of the one before. */
static double gathers(sk_script *s, uint32_t nranks)
{
    const double gap = 0.05, spread = 1;
    const uint64_t salt = (uint64_t)sk_script_below(s, UINT32_MAX) << 32;
    double at = 0.1;
    for (int call = 0; call < GATHERS; call++) {
        double last = at;
        sk_script_call(s, call ? SK_KIND_GATHERV : SK_KIND_GATHER, 512);
        for (uint32_t i = 1; i < nranks; i++) {
            /* A rank is as late in all calls of a step: its messages keep their order. */
            uint64_t rank = salt + i;
            double late = spread * sk_random_share(&rank);
            double arrives = 0.12 + late + gap * call + gap * sk_script_share(s) / 2;
            sk_script_pair(s, i, 0, at, arrives);
            last = arrives > last ? arrives : last;
        }
        at = last + 0.01;
    }
    return at;
}

/* Most receives of an exchange are posted before the gathers, the others after. */
static void exchange(sk_script *s, uint32_t nranks, double end)
{
    uint32_t neighbours = nranks - 1 < NEIGHBOURS ? nranks - 1 : NEIGHBOURS;
    sk_script_p2p(s, 4096);
    for (int tag = 0; tag < MESSAGES; tag++)
        for (uint32_t i = 0; i < neighbours; i++)
            sk_script_pair(s, 1 + i, tag, tag % 4 == 3 ? end : 0,
                           end * (tag + sk_script_share(s)) / MESSAGES);
}

static void step(sk_script *s, uint32_t nranks)
{
    double at = gathers(s, nranks);
    exchange(s, nranks, at);
    sk_script_call(s, SK_KIND_ALLGATHERV, 1024);
    at = sk_script_doubling(s, nranks, at + 3, 0.3);
    sk_script_call(s, SK_KIND_ALLREDUCE, 8);
    sk_script_doubling(s, nranks, at + 3, 0.3);
}

const sk_app sk_app_fds = {
    .name = "fds",
    .help = "fire simulation, rank 0: all ranks gather(v) to it; long queues",
    .steps = 100,
    .step = step,
};
