/* allreduce_shm.c: every rank copies its vector to its slot, and all reduce what is there.
 * cost      short: 1 copy, and p vectors reduced by every rank, or by one for all
 *           long:  1 copy in, one vector's worth reduced by every rank (a part of each), 1 copy
 *           out
 * good for  one node, operations of the standard; keeps the order of ranks
 * epochs    1; long: 2 for each chunk
 * steps     3; long: 5 for each chunk
 * scratch   none */
#include "coll/claim.h"
#include "coll/phase/intra_reduce.h"

static bool fits(const sk_call *c)
{
    return sk_intra_reduce_fits(c, 1);
}

static void build(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c);
    if (sk_call_bytes(c) == 0)
        return;
    if (!sk_intra_is_short(c)) {
        sk_intra_reduce_by_parts(s, c, -1);
        return;
    }
    int epoch = sk_intra_post_vector(s, c, true);
    sk_join_local(s, sk_elems_slot(c, epoch, 0, n), sk_recv_elems(c, 0, n));
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    if (k->is_short)
        sk_claim_moves(c, 1, 1, k->n, 1, k->n);
    else
        sk_intra_claim_parts(k, c, k->p);
    if (k->is_short)
        c->rounds = 2;
}

const sk_algo sk_allreduce_shm = {
    .name = "shm",
    .coll = SK_ALLREDUCE,
    .about = "vectors in shared memory, every rank combines a part; one node",
    .fits = fits,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE}},
};
