/* allgather_shm.c: every rank copies its block to its slot and takes those of all others;
 * allgather and allgatherv.
 * cost      2 copies of a byte
 * good for  one node
 * epochs    1, or one for each chunk of the longest block
 * steps     3 through the common slot; otherwise p + 1 for each chunk
 * scratch   the blocks, where they are cut and the user's type is not contiguous */
#include "coll/claim.h"
#include "coll/phase/intra.h"

/* Short blocks are together in the common slot, in the order of ranks, which is that of the
 * receive buffer. */
static void build_common(sk_sched *s, const sk_call *c, const sk_blocks *all, int64_t bytes)
{
    sk_span mine = sk_send_block(c, 0);
    int epoch = sk_epoch(s, bytes, true);
    sk_copy(s, mine, sk_common(epoch, sk_blocks_bytes(all, 0, c->rank), mine.len));
    sk_fence(s);
    sk_post(s, epoch);
    sk_blocks_take(s, all, 0, c->nranks, -1, sk_common(epoch, 0, bytes));
}

/* The part of a block that this epoch holds. It is empty for blocks that have ended. */
static sk_span part_of(const sk_call *c, sk_span block, sk_chunk h)
{
    int64_t left = block.len > h.from ? block.len - h.from : 0;
    return sk_span_cut(c->types, block, h.from < block.len ? h.from : 0,
                       left < h.len ? left : h.len);
}

static void build_slots(sk_sched *s, const sk_call *c, const sk_chunking *chunking)
{
    sk_others from = sk_others_of(c, SK_RECV, c->rank);
    sk_span user = sk_send_block(c, 0), mine = user;
    if (chunking->cuts > 1) {
        mine = sk_intra_contiguous(s, c, user);
        sk_others_make_copy(s, &from, false);
    }
    sk_fence(s);
    for (int64_t k = 0; k < chunking->nepochs; k++) {
        sk_chunk h = sk_chunking_get(chunking, k);
        int epoch = sk_epoch(s, h.len, true);
        sk_span part = part_of(c, mine, h);
        sk_copy(s, part, sk_slot(epoch, 0, part.len));
        sk_fence(s);
        sk_post(s, epoch);
        if (k == 0)
            sk_copy(s, user, sk_recv_block(c, c->rank));
        sk_intra_await_all(s, c, epoch);
        for (int i = 0; i < from.n; i++) {
            sk_span to = part_of(c, sk_others_block(&from, i), h);
            sk_take(s, sk_others_rank(&from, i), sk_slot(epoch, 0, to.len), to);
        }
    }
    sk_fence(s);
    sk_others_unpack(s, &from);
}

static int64_t longest(const sk_call *c)
{
    int64_t most = 0;
    for (int i = 0; i < c->nranks; i++) {
        int64_t len = sk_recv_block(c, i).len;
        most = len > most ? len : most;
    }
    return most;
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_blocks all = {.c = c, .side = SK_RECV};
    int64_t bytes = sk_blocks_bytes(&all, 0, c->nranks);
    sk_chunking chunking = sk_chunking_of(c, 1, longest(c));
    if (bytes > 0 && sk_intra_use_common(c, bytes))
        build_common(s, c, &all, bytes);
    else
        build_slots(s, c, &chunking);
}

static int64_t scratch(const sk_call *c)
{
    sk_blocks all = {.c = c, .side = SK_RECV};
    sk_chunking chunking = sk_chunking_of(c, 1, longest(c));
    int64_t bytes = sk_blocks_bytes(&all, 0, c->nranks);
    return chunking.cuts > 1 ? sk_intra_scratch(1, bytes) + sk_intra_scratch(1, chunking.block) : 0;
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t epochs = sk_claim_ceil(k->b, sk_intra_epoch_bytes(k->call, SK_INTRA_CHUNK)),
            others = k->p - 1;
    if (k->is_short && sk_machine_oversubscribed(k->call->machine))
        sk_claim_moves(c, 1, 1, k->b, 1, k->n);
    else
        sk_claim_moves(c, epochs, epochs + 1, 2 * k->b, others * epochs, others * k->b);
    if (k->is_short)
        c->rounds = 2;
}

#define SHARED(COLL)                                                                               \
    {                                                                                              \
        .name = "shm", .coll = (COLL),                                                             \
        .about = "all blocks through shared memory to all, in chunks; one node",                   \
        .fits = sk_intra_fits, .scratch = scratch, .build = build, .claim = claim,                 \
        .rule = {{.when = SK_WHEN_ONE_NODE}},                                                      \
    }

const sk_algo sk_allgather_shm = SHARED(SK_ALLGATHER);
const sk_algo sk_allgatherv_shm = SHARED(SK_ALLGATHERV);
