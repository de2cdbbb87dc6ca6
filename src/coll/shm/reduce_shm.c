/* reduce_shm.c: every rank copies its vector to its slot, and the root reduces what is there.
 * Long vectors are reduced in parts, one by every rank; of two ranks the root takes the other's vector.
 * cost      short: 1 copy, and p vectors reduced by the root
 *           long:  1 copy in, one vector's worth reduced by every rank, 1 copy out at the root
 *           two ranks: 1 copy in, 1 copy out, 1 vector reduced by the root
 * good for  one node, operations of the standard; keeps the order of ranks
 * epochs    1; long: 2 for each chunk; two ranks: 1 for each chunk, and only the root waits
 * steps     2, 3 at the root; long: 4 or 5 for each chunk
 * scratch   long vectors of two ranks: a chunk */
#include "coll/claim.h"
#include "coll/phase/intra_reduce.h"
#include "coll/phase/reduce.h"

static bool fits(const sk_call *c)
{
    return sk_intra_reduce_fits(c, 1);
}

static int64_t pair_chunk(const sk_call *c)
{
    return sk_elems_in(c, sk_intra_flow_bytes(c, sk_call_bytes(c)));
}

/* At the root, elements [first, first + n): the vector of rank 0 is the left operand. */
static void take_and_reduce(sk_sched *s, const sk_call *c, sk_span slot, int64_t first, int64_t n,
                            sk_span scratch)
{
    sk_span own = sk_send_elems(c, first, n), to = sk_recv_elems(c, first, n);
    bool own_left = c->rank == 0, direct = own_left && !c->in_place;
    sk_span taken = direct ? to : sk_elems_cut(c, scratch, 0, n);
    sk_take(s, 1 - c->rank, slot, taken);
    if (!own_left)
        sk_copy(s, own, to);
    sk_fence(s);
    sk_reduce(s, own_left ? own : taken, own_left ? taken : to);
    if (own_left && !direct) {
        sk_fence(s);
        sk_copy(s, taken, to);
    }
}

static void build_pair(sk_sched *s, const sk_call *c)
{
    int64_t all = sk_call_elems(c), most = pair_chunk(c), chunks = all / most + (all % most != 0);
    bool root = c->rank == c->root;
    sk_span scratch = root ? sk_scratch_typed(s, c->send.type, most) : (sk_span){0};
    for (int64_t i = 0, first = 0; i < chunks; i++) {
        int64_t n = all / chunks + (i < all % chunks);
        int epoch = sk_epoch(s, sk_elems_bytes(c, n), false);
        sk_span slot = sk_elems_slot(c, epoch, 0, n);
        if (root)
            take_and_reduce(s, c, slot, first, n, scratch);
        else
            sk_copy(s, sk_send_elems(c, first, n), slot);
        sk_fence(s);
        if (!root)
            sk_post(s, epoch);
        first += n;
    }
}

static int64_t scratch(const sk_call *c)
{
    return c->nranks == 2 && !sk_intra_is_short(c) ? sk_vectors_scratch(c, 1, pair_chunk(c)) : 0;
}

static void build(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c);
    if (sk_call_bytes(c) == 0)
        return;
    if (!sk_intra_is_short(c) && c->nranks == 2) {
        build_pair(s, c);
        return;
    }
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
    else if (k->p == 2) {
        int64_t chunks = sk_claim_ceil(k->n / 8, pair_chunk(k->call)), more = k->rank == 1;
        sk_claim_moves(c, chunks, k->at_root ? more * chunks : chunks,
                       k->at_root ? more * k->n : k->n, k->at_root ? chunks : 0,
                       k->at_root ? k->n : 0);
        c->reduces = k->at_root ? chunks : 0;
        c->scratch = SK_UNCLAIMED;
    } else
        sk_intra_claim_parts(k, c, 1);
    if (k->is_short)
        c->rounds = 2;
}

const sk_algo sk_reduce_shm = {
    .name = "shm",
    .coll = SK_REDUCE,
    .about = "vectors in shared memory, combined by the root or, long ones, by all; one node",
    .fits = fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE}},
};
