/* alltoall_shm.c: every rank copies the others' blocks to its slot, and its own out of theirs.
 * cost      2 copies of a byte
 * good for  one node, short and medium blocks
 * epochs    1, or one for every 16 KiB that a rank sends (where ranks share cores: for every
 *           slot)
 * steps     2 to fill an epoch, one for each block to empty it
 * scratch   what is sent, in place with several epochs; all blocks, where they are cut and the
 *           user's type is not contiguous
 *
 * Several epochs hold whole blocks for one rank after the other, from the next one on, instead
 * of a part of each block. So copies are long, and nothing is cut without need. */
#include "coll/claim.h"
#include "coll/phase/intra.h"

/* For the i-th rank after me, I am the (p-2-i)th rank after it. */
static void empty(sk_sched *s, const sk_others *from, sk_chunk h, int epoch)
{
    for (int k = h.hi - 1; k >= h.lo; k--) {
        int i = from->n - 1 - k;
        sk_take(s, sk_others_rank(from, i), sk_slot(epoch, (k - h.lo) * h.len, h.len),
                sk_span_cut(from->row.c->types, sk_others_block(from, i), h.from, h.len));
    }
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_chunking chunking = sk_chunking_of(c, c->nranks - 1, sk_call_bytes(c));
    sk_others to = sk_others_of(c, SK_SEND, c->rank), from = sk_others_of(c, SK_RECV, c->rank);
    if (chunking.cuts > 1)
        sk_others_make_copy(s, &from, false);
    if (chunking.cuts > 1 || (c->in_place && chunking.nepochs > 1))
        sk_others_make_copy(s, &to, c->in_place);
    sk_others_pack(s, &to);
    sk_fence(s);
    for (int64_t k = 0; k < chunking.nepochs; k++) {
        sk_chunk h = sk_chunking_get(&chunking, k);
        int epoch = sk_epoch(s, (h.hi - h.lo) * h.len, true);
        sk_others_fill(s, &to, &chunking, h, epoch);
        sk_fence(s);
        sk_post(s, epoch);
        if (k == 0)
            sk_copy(s, sk_send_block(c, c->rank), sk_recv_block(c, c->rank));
        sk_intra_await_all(s, c, epoch);
        empty(s, &from, h, epoch);
    }
    sk_fence(s);
    sk_others_unpack(s, &from);
}

static int64_t scratch(const sk_call *c)
{
    sk_chunking chunking = sk_chunking_of(c, c->nranks - 1, sk_call_bytes(c));
    int64_t copies = chunking.cuts > 1 ? 2 : c->in_place && chunking.nepochs > 1;
    return sk_intra_scratch(copies * chunking.n, chunking.block);
}

/* The epochs of p - 1 blocks: whole ones, or parts of one. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t chunk = sk_intra_epoch_bytes(k->call, SK_INTRA_CHUNK),
            each = sk_claim_ceil(k->b, chunk);
    int64_t epochs = k->b <= chunk ? sk_claim_ceil(k->p - 1, chunk / k->b) : (k->p - 1) * each;
    sk_claim_moves(c, epochs, SK_UNCLAIMED, k->n, (k->p - 1) * each, (k->p - 1) * k->b);
    if (k->is_short)
        c->rounds = 2;
}

const sk_algo sk_alltoall_shm = {
    .name = "shm",
    .coll = SK_ALLTOALL,
    .about = "all blocks through shared memory, in chunks; one node, short and medium blocks",
    .fits = sk_intra_fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE}},
};
