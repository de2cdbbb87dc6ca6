/* reduce_shm.c: every rank copies its vector to its slot, and the root reduces what is there.
 * Long vectors are reduced in parts, one by every rank.
 * cost      short: 1 copy, and p vectors reduced by the root
 *           long:  1 copy in, one vector's worth reduced by every rank, 1 copy out at the root
 * good for  one node, operations of the standard; keeps the order of ranks
 * epochs    1; long: 2 for each chunk
 * steps     2, 3 at the root; long: 4 or 5 for each chunk
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
        sk_intra_reduce_by_parts(s, c, c->root);
        return;
    }
    int epoch = sk_intra_post_vector(s, c, true);
    if (c->rank == c->root)
        sk_fold_local(s, 0, c->nranks, sk_elems_slot(c, epoch, 0, n), sk_recv_elems(c, 0, n));
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    if (k->is_short)
        sk_claim_moves(c, 1, 1, k->n, k->at_root ? k->p : 0, k->at_root ? k->p * k->n : 0);
    else
        sk_intra_claim_parts(k, c, 1);
    if (k->is_short)
        c->rounds = 2;
}

const sk_algo sk_reduce_shm = {
    .name = "shm",
    .coll = SK_REDUCE,
    .about = "vectors in shared memory, combined by the root or, long ones, by all; one node",
    .fits = fits,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE}},
};
