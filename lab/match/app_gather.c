/* app_gather.c: the root of gathers, called one after the other. The root posts all receives at once, in the
 * order of ranks; messages arrive in any order, some before that. */
#include "lab/match/app.h"

static void gather_step(sk_timeline *t, uint32_t nranks)
{
    sk_timeline_coll(t, SK_KIND_GATHER, 8);
    sk_timeline_all_at_once(t, nranks, nranks - 1, 0, 0.1);
}

const sk_app sk_app_gather = {
    .name = "gather",
    .help = "gathers, the root: receives from all ranks at once; long queues",
    .steps = 50,
    .step = gather_step,
};
