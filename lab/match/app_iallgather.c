/* app_iallgather.c: several nonblocking allgathers at a time, each by doubling. Their receives are posted together
 * and messages of all of them arrive in any order. */
#include "lab/match/app.h"

enum { AT_A_TIME = 4 };

static void iallgather_step(sk_timeline *t, uint32_t nranks)
{
    for (int call = 0; call < AT_A_TIME; call++) {
        sk_timeline_coll(t, SK_KIND_ALLGATHER, 64);
        int phase = 0;
        for (uint32_t step = 1; step < nranks; step *= 2, phase++)
            sk_timeline_pair(t, step, phase, 0, sk_timeline_random(t) - 0.3);
    }
}

const sk_app sk_app_iallgather = {
    .name = "iallgather",
    .help = "nonblocking allgathers, several at a time; queues of some dozens",
    .steps = 1000,
    .step = iallgather_step,
};
