/* gather_shm.c: every rank copies its block to its slot, and the root copies all of them out.
 * cost      2 copies of a byte
 * good for  one node
 * epochs    1, or one for each chunk of a block
 * steps     2 for each chunk; p - 1 at the root, or 3 through the common slot
 * scratch   a block, or all at the root, where they are cut and the user's type is not
 *           contiguous
 *
 * Only the root waits. */
#include "coll/claim.h"
#include "coll/phase/intra.h"

/* Short blocks are together in the common slot: the root waits once and takes them in a step or
 * two. */
static void build_common(sk_sched *s, const sk_call *c)
{
    sk_others all = sk_others_of(c, SK_RECV, c->root);
    int64_t block = sk_call_bytes(c), bytes = all.n * block;
    int epoch = sk_epoch(s, bytes, true);
    if (c->rank != c->root)
        sk_copy(s, sk_send_block(c, 0),
                sk_common(epoch, sk_others_find(&all, c->rank) * block, block));
    sk_fence(s);
    sk_post(s, epoch);
    if (c->rank != c->root)
        return;
    sk_blocks_take(s, &all.row, 0, all.n, -1, sk_common(epoch, 0, bytes));
    sk_copy(s, sk_send_block(c, 0), sk_recv_block(c, c->root));
}

static void build_root(sk_sched *s, const sk_call *c, const sk_chunking *chunking)
{
    sk_others from = sk_others_of(c, SK_RECV, c->root);
    if (chunking->cuts > 1)
        sk_others_make_copy(s, &from, false);
    sk_copy(s, sk_send_block(c, 0), sk_recv_block(c, c->root));
    for (int64_t k = 0; k < chunking->nepochs; k++) {
        sk_chunk h = sk_chunking_get(chunking, k);
        int epoch = sk_epoch(s, h.len, false);
        for (int i = 0; i < from.n; i++)
            sk_take(s, sk_others_rank(&from, i), sk_slot(epoch, 0, h.len),
                    sk_span_cut(c->types, sk_others_block(&from, i), h.from, h.len));
        sk_fence(s);
    }
    sk_others_unpack(s, &from);
}

static void build_other(sk_sched *s, const sk_call *c, const sk_chunking *chunking)
{
    sk_span user = sk_send_block(c, 0),
            place = chunking->cuts > 1 ? sk_intra_contiguous(s, c, user) : user;
    sk_fence(s);
    for (int64_t k = 0; k < chunking->nepochs; k++) {
        sk_chunk h = sk_chunking_get(chunking, k);
        int epoch = sk_epoch(s, h.len, false);
        sk_copy(s, sk_span_cut(c->types, place, h.from, h.len), sk_slot(epoch, 0, h.len));
        sk_fence(s);
        sk_post(s, epoch);
    }
}

static void build(sk_sched *s, const sk_call *c)
{
    int64_t block = sk_call_bytes(c);
    sk_chunking chunking = sk_chunking_one_way(c, 1, block);
    if (block > 0 && sk_intra_use_common(c, (c->nranks - 1) * block))
        build_common(s, c);
    else if (c->rank == c->root)
        build_root(s, c, &chunking);
    else
        build_other(s, c, &chunking);
}

static int64_t scratch(const sk_call *c)
{
    sk_chunking chunking = sk_chunking_one_way(c, 1, sk_call_bytes(c));
    return chunking.cuts > 1 ? sk_intra_scratch(c->nranks - 1, chunking.block) : 0;
}

/* From the common slot the root takes all blocks before its own in one step, and all after it. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    bool common = k->is_short && sk_machine_oversubscribed(k->call->machine);
    bool edge = k->root == 0 || k->root == k->p - 1;
    int64_t epochs = sk_claim_ceil(k->b, sk_intra_flow_bytes(k->call, k->b));
    int64_t takes = common ? (edge ? 1 : 2) : (k->p - 1) * epochs;
    if (k->at_root)
        sk_claim_moves(c, epochs, 1, k->b, takes, (k->p - 1) * k->b);
    else
        sk_claim_moves(c, epochs, epochs, k->b, 0, 0);
    if (k->is_short)
        c->rounds = k->at_root ? 1 : 2;
}

const sk_algo sk_gather_shm = {
    .name = "shm",
    .coll = SK_GATHER,
    .about = "all blocks through shared memory to the root, in chunks; one node",
    .fits = sk_intra_fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE}},
};
