/* stream_nbody.c: particles under each other's force. Mostly point-to-point: particles of the cells
 * around come in many messages, those far away in one each, all asked for at once and arriving in
 * any order. Now and then an allgather of the boxes, and small reductions and broadcasts. */
#include "bench/match/script.h"

enum { NEAR = 26, MESSAGES = 6, FAR = 64, GATHER = 10 };

static void particles(sk_script *s, uint32_t nranks)
{
    uint32_t near = nranks - 1 < NEAR ? nranks - 1 : NEAR;
    sk_script_p2p(s, 2048);
    for (int tag = 0; tag < MESSAGES; tag++)
        for (uint32_t i = 0; i < near; i++)
            sk_script_pair(s, 1 + i, tag, 0, (2 * tag - 1 + 4 * sk_script_share(s)) / MESSAGES);
    for (uint32_t i = 0; i < FAR && nranks > near + 1; i++)
        sk_script_pair(s, 1 + near + sk_script_below(s, nranks - 1 - near), MESSAGES, 0.01,
                       3 * sk_script_share(s) - 0.5);
}

static void step(sk_script *s, uint32_t nranks)
{
    particles(s, nranks);
    sk_script_call(s, SK_KIND_ALLGATHER, 96);
    double at = sk_script_spread(s, nranks, GATHER, 0.2, 0.4);
    sk_script_call(s, SK_KIND_ALLREDUCE, 8);
    at = sk_script_doubling(s, nranks, at + 2, 0.2);
    if (sk_script_below(s, 8) == 0) {
        sk_script_call(s, SK_KIND_BCAST, 4096);
        sk_script_pair(s, nranks / 2, 0, at + 1, at + sk_script_share(s));
        sk_script_call(s, SK_KIND_REDUCE, 64);
        sk_script_doubling(s, nranks, at + 3, 0.2);
    }
}

const sk_app sk_app_nbody = {
    .name = "nbody",
    .help = "N-body: mostly point-to-point, some allgather, allreduce, bcast, reduce",
    .steps = 400,
    .step = step,
};
