/* barrier_shared.c: every rank says that it has come, and waits until all have.
 * cost   one turn without data    good for  one node
 * steps  2                        scratch   none */
#include "coll/algo.h"
#include "coll/phase/share.h"

static void build(sk_sched *s, const sk_call *c)
{
    int turn = sk_turn(s, 0, true);
    sk_publish(s, turn);
    sk_meet_mates(s, turn, 0, c->nranks);
}

const sk_algo sk_barrier_shared = {
    .name = "shared",
    .coll = SK_BARRIER,
    .about = "all say in shared memory that they have come; one node",
    .fits = sk_share_fits,
    .build = build,
};
