/* reduce_scatter_shm.c: every rank copies its vector to its slot, and each reduces its own block
 * of all; reduce_scatter and reduce_scatter_block.
 * cost      1 copy of the vector, and p blocks reduced
 * good for  one node, operations of the standard
 * epochs    1; long: one for each chunk, which holds a part of every block
 * steps     3; long: p + 2 for each chunk
 * scratch   none
 *
 * A chunk has a part of every block, so that all ranks have something to reduce. In place, the
 * result grows over the input from its start on. What was there is in slots already, because no
 * block is copied ahead of the first one. */
#include "coll/claim.h"
#include "coll/phase/intra_reduce.h"
#include "coll/phase/reduce.h"

static bool fits(const sk_call *c)
{
    return sk_intra_reduce_fits(c, c->nranks);
}

static void build_once(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c), mine = sk_block_count(c, c->rank);
    int epoch = sk_intra_post_vector(s, c, true);
    sk_span block =
        sk_elems_cut(c, sk_elems_slot(c, epoch, 0, n), sk_block_first(c, c->rank), mine);
    sk_fold_local(s, 0, c->nranks, block, sk_recv_elems(c, 0, mine));
}

static int64_t clip(int64_t n, int64_t most)
{
    return n < 0 ? 0 : n < most ? n : most;
}

/* Elements [first, first + most) of every block, as far as it has them. */
static void build_chunk(sk_sched *s, const sk_call *c, int64_t first, int64_t most)
{
    int64_t step = sk_slot_bytes(&c->types[c->send.type], most), start = 0;
    int epoch = sk_epoch(s, c->nranks * step, true);
    for (int i = 0; i < c->nranks; i++) {
        int64_t count = sk_block_count(c, i), n = clip(count - first, most);
        sk_copy(s, sk_send_elems(c, start + first, n), sk_elems_slot(c, epoch, i * step, n));
        start += count;
    }
    sk_fence(s);
    sk_post(s, epoch);
    int64_t mine = clip(sk_block_count(c, c->rank) - first, most);
    sk_fold_local(s, 0, c->nranks, sk_elems_slot(c, epoch, c->rank * step, mine),
                  sk_recv_elems(c, first, mine));
}

static void build(sk_sched *s, const sk_call *c)
{
    int64_t chunk = sk_intra_epoch_bytes(c, SK_INTRA_REDUCE_CHUNK);
    if (sk_call_bytes(c) == 0)
        return;
    if (sk_elems_bytes(c, sk_call_elems(c)) <= chunk) {
        build_once(s, c);
        return;
    }
    int64_t all = sk_block_longest(c), most = sk_elems_each(c);
    for (int64_t first = 0; first < all; first += most)
        build_chunk(s, c, first, all - first < most ? all - first : most);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t chunk = sk_intra_epoch_bytes(k->call, SK_INTRA_REDUCE_CHUNK);
    int64_t each = chunk / k->p / SK_CACHE_LINE * SK_CACHE_LINE;
    bool once = k->n <= chunk;
    int64_t epochs = once ? 1 : sk_claim_ceil(k->b, each);
    sk_claim_moves(c, epochs, once ? 1 : k->p * epochs, k->n, k->p * epochs, k->n);
    if (k->is_short)
        c->rounds = 2;
}

#define SHARED(COLL)                                                                               \
    {                                                                                              \
        .name = "shm", .coll = (COLL),                                                             \
        .about = "vectors in shared memory, every rank combines its block; one node",              \
        .fits = fits, .build = build, .claim = claim, .rule = {{.when = SK_WHEN_ONE_NODE}},        \
    }

const sk_algo sk_reduce_scatter_shm = SHARED(SK_REDUCE_SCATTER);
const sk_algo sk_reduce_scatter_block_shm = SHARED(SK_REDUCE_SCATTER_BLOCK);
