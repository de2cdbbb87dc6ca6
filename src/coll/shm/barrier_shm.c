/* barrier_shm.c: every rank posts an epoch and waits until all have. A few ranks that share cores: rank 0 waits
 * for the others and posts last, and the others wait for rank 0 alone.
 * cost      one epoch without data
 * good for  one node
 * steps     2
 * scratch   none
 *
 * Rank 0 is the root of most rooted calls. Where cores are shared, the rank that arrives last would leave the
 * barrier and wait in the next broadcast for a root that has yet to get a core. So rank 0 leaves first and the
 * others find its data. It may get a core before all have arrived, and then waits for one more turn of all. */
#include "coll/claim.h"
#include "coll/phase/intra.h"

static bool first_leaves_first(const sk_call *c)
{
    return sk_machine_oversubscribed(c->machine) && c->nranks > 1 &&
           c->nranks < SK_INTRA_FIRST_RANKS;
}

static void build(sk_sched *s, const sk_call *c)
{
    int epoch = sk_epoch(s, 0, true);
    if (!first_leaves_first(c)) {
        sk_post(s, epoch);
        sk_await_local(s, epoch, 0, c->nranks);
    } else if (c->rank == 0) {
        sk_await_local(s, epoch, 1, c->nranks);
        sk_fence(s);
        sk_post(s, epoch);
    } else {
        sk_post(s, epoch);
        sk_await_local(s, epoch, 0, 1);
    }
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    sk_claim_moves(c, 1, 0, 0, 0, 0);
    if (k->is_short)
        c->rounds = first_leaves_first(k->call) && k->at_root ? 2 : 1;
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
