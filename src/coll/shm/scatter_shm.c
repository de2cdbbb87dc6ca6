/* scatter_shm.c: the root copies the others' blocks to its slot, and each copies its own out.
 * cost      2 copies of a byte
 * good for  one node
 * epochs    1, or one for every 16 KiB (where ranks share cores: for every slot); a rank other
 *           than the root uses only the epochs of its own block
 * scratch   the blocks, where they are cut and the user's type is not contiguous
 *
 * Several epochs hold whole blocks one after the other, instead of a part of each. So every rank
 * but the root waits once, and few steps make long copies. */
#include "coll/claim.h"
#include "coll/phase/intra.h"

static void build_root(sk_sched *s, const sk_call *c, const sk_chunking *chunking)
{
    sk_others to = sk_others_of(c, SK_SEND, c->root);
    if (chunking->cuts > 1)
        sk_others_make_copy(s, &to, false);
    sk_others_pack(s, &to);
    sk_fence(s);
    for (int64_t k = 0; k < chunking->nepochs; k++) {
        sk_chunk h = sk_chunking_get(chunking, k);
        int epoch = sk_epoch(s, (h.hi - h.lo) * h.len, false);
        sk_others_fill(s, &to, chunking, h, epoch);
        sk_fence(s);
        sk_post(s, epoch);
    }
    sk_copy(s, sk_send_block(c, c->root), sk_recv_block(c, 0));
}

static void build_other(sk_sched *s, const sk_call *c, const sk_chunking *chunking)
{
    sk_others all = sk_others_of(c, SK_SEND, c->root);
    int me = sk_others_find(&all, c->rank);
    sk_span user = sk_recv_block(c, 0);
    sk_span place = chunking->cuts > 1 ? sk_contiguous_place(s, c, user) : user;
    for (int64_t k = 0; k < chunking->nepochs; k++) {
        sk_chunk h = sk_chunking_get(chunking, k);
        int epoch = sk_epoch(s, (h.hi - h.lo) * h.len, false);
        if (h.lo <= me && me < h.hi)
            sk_take(s, c->root, sk_slot(epoch, (me - h.lo) * h.len, h.len),
                    sk_span_cut(c->types, place, h.from, h.len));
        sk_fence(s);
    }
    sk_copy(s, place, user);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_chunking chunking = sk_chunking_one_way(c, c->nranks - 1, sk_call_bytes(c));
    if (c->rank == c->root)
        build_root(s, c, &chunking);
    else
        build_other(s, c, &chunking);
}

static int64_t scratch(const sk_call *c)
{
    sk_chunking chunking = sk_chunking_one_way(c, c->nranks - 1, sk_call_bytes(c));
    return chunking.cuts > 1 ? sk_intra_scratch(chunking.n, chunking.block) : 0;
}

/* The epochs of p - 1 blocks: whole ones, or parts of one. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t chunk = sk_intra_flow_bytes(k->call, (k->p - 1) * k->b),
            each = sk_claim_ceil(k->b, chunk);
    int64_t epochs = k->b <= chunk ? sk_claim_ceil(k->p - 1, chunk / k->b) : (k->p - 1) * each;
    if (k->at_root)
        sk_claim_moves(c, epochs, SK_UNCLAIMED, k->n, 0, 0);
    else
        sk_claim_moves(c, epochs, 0, 0, each, k->b);
    if (k->is_short)
        c->rounds = k->at_root ? 2 : 1;
}

const sk_algo sk_scatter_shm = {
    .name = "shm",
    .coll = SK_SCATTER,
    .about = "the root's blocks through shared memory, in chunks; one node",
    .fits = sk_intra_fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE}},
};
