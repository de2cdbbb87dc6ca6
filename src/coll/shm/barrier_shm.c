/* barrier_shm.c: every rank posts an epoch and waits until all have.
 * cost      one epoch without data
 * good for  one node
 * steps     2
 * scratch   none */
#include "coll/claim.h"
#include "coll/phase/intra.h"

static void build(sk_sched *s, const sk_call *c)
{
    int epoch = sk_epoch(s, 0, true);
    sk_post(s, epoch);
    sk_await_local(s, epoch, 0, c->nranks);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    sk_claim_moves(c, 1, 0, 0, 0, 0);
    if (k->is_short)
        c->rounds = 1;
}

const sk_algo sk_barrier_shm = {
    .name = "shm",
    .coll = SK_BARRIER,
    .about = "all say in shared memory that they have come; one node",
    .fits = sk_intra_fits,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE}},
};
