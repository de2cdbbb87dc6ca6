/* bcast_shm.c: the root copies the message to its slot, the others copy it out.
 * cost      2 copies of a byte, which overlap for long messages
 * good for  one node
 * epochs    1, or one for each chunk
 * steps     2 for each chunk
 * scratch   the message, where it is cut and the user's type is not contiguous
 *
 * Only the root posts, so it does not wait for the others. */
#include "coll/claim.h"
#include "coll/phase/intra.h"

static void build(sk_sched *s, const sk_call *c)
{
    sk_span user = sk_recv_block(c, 0);
    sk_chunking chunking = sk_chunking_one_way(c, 1, user.len);
    sk_span message = chunking.cuts > 1 ? sk_contiguous_place(s, c, user) : user;
    bool root = c->rank == c->root;
    if (root)
        sk_copy(s, user, message);
    sk_fence(s);
    for (int64_t k = 0; k < chunking.nepochs; k++) {
        sk_chunk h = sk_chunking_get(&chunking, k);
        int epoch = sk_epoch(s, h.len, false);
        sk_span part = sk_span_cut(c->types, message, h.from, h.len),
                slot = sk_slot(epoch, 0, h.len);
        if (root)
            sk_copy(s, part, slot);
        else
            sk_take(s, c->root, slot, part);
        sk_fence(s);
        if (root)
            sk_post(s, epoch);
    }
    if (!root)
        sk_copy(s, message, user);
}

static int64_t scratch(const sk_call *c)
{
    sk_chunking chunking = sk_chunking_one_way(c, 1, sk_call_bytes(c));
    return chunking.cuts > 1 ? sk_intra_scratch(1, chunking.block) : 0;
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t epochs = sk_claim_ceil(k->n, sk_intra_flow_bytes(k->call, k->n));
    if (k->at_root)
        sk_claim_moves(c, epochs, epochs, k->n, 0, 0);
    else
        sk_claim_moves(c, epochs, 0, 0, epochs, k->n);
    if (k->is_short)
        c->rounds = k->at_root ? 2 : 1;
}

const sk_algo sk_bcast_shm = {
    .name = "shm",
    .coll = SK_BCAST,
    .about = "the root's message through shared memory, in chunks; one node",
    .fits = sk_intra_fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE}},
};
