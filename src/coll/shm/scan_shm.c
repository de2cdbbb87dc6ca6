/* scan_shm.c: every rank copies its vector to its slot and reduces those of the ranks below it; of long
 * vectors it adds its own to the prefix of the rank before it, chunk by chunk; scan and exscan.
 * cost      short: 1 copy, and up to p vectors reduced
 *           long:  2 to 4 passes over the vector; the last rank begins p - 1 chunks after the first
 * good for  one node, operations of the standard; keeps the order of ranks
 * epochs    1, or one for each chunk
 * steps     3; long: up to 5 for each chunk
 * scratch   scan of long vectors: a chunk
 *
 * A rank never waits for ranks above it. */
#include "coll/claim.h"
#include "coll/phase/intra_reduce.h"
#include "coll/phase/reduce.h"

static bool fits(const sk_call *c)
{
    return sk_intra_reduce_fits(c, 1);
}

/* Ranks whose vectors are part of my result. */
static int below(const sk_call *c)
{
    return c->rank + (c->coll == SK_SCAN);
}

static void build_short(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c);
    if (c->rank == 0 && c->coll == SK_SCAN)
        sk_copy(s, sk_send_elems(c, 0, n), sk_recv_elems(c, 0, n));
    int epoch;
    if (c->coll == SK_EXSCAN && c->rank == c->nranks - 1)
        epoch = sk_epoch(s, sk_elems_bytes(c, n), false); /* nobody needs its vector */
    else
        epoch = sk_intra_post_vector(s, c, false);
    sk_span slot = sk_elems_slot(c, epoch, 0, n), result = sk_recv_elems(c, 0, n);
    if (c->rank > 0 && below(c) == 1)
        sk_take(s, 0, slot, result);
    else if (c->rank > 0)
        sk_fold_local(s, 0, below(c), slot, result);
}

static int64_t chunk_of(const sk_call *c)
{
    return sk_elems_in(c, sk_intra_chain_bytes(c));
}

/* Elements [first, first + n): take the prefix of the rank before me, to `before`, which for exscan is my
 * result, add my own and post it for the rank after me. */
static void build_chunk(sk_sched *s, const sk_call *c, int64_t first, int64_t n, sk_span before)
{
    int epoch = sk_epoch(s, sk_elems_bytes(c, n), false);
    bool last = c->rank == c->nranks - 1, scan = c->coll == SK_SCAN;
    sk_span own = sk_send_elems(c, first, n), to = sk_recv_elems(c, first, n),
            slot = sk_elems_slot(c, epoch, 0, n), with = last ? to : slot;
    if (scan || !last)
        sk_copy(s, own, with);
    sk_fence(s);
    if (c->rank > 0) {
        sk_take(s, c->rank - 1, slot, before);
        sk_fence(s);
        if (scan || !last)
            sk_reduce(s, before, with);
        sk_fence(s);
    }
    if (!last)
        sk_post(s, epoch);
    if (scan && !last)
        sk_copy(s, c->rank > 0 ? slot : own, to);
}

static void build(sk_sched *s, const sk_call *c)
{
    int64_t all = sk_call_elems(c);
    if (sk_call_bytes(c) == 0)
        return;
    if (sk_intra_is_short(c)) {
        build_short(s, c);
        return;
    }
    int64_t most = chunk_of(c), chunks = all / most + (all % most != 0);
    sk_span in = {0};
    if (c->rank > 0 && c->coll == SK_SCAN)
        in = sk_scratch_typed(s, c->send.type, most);
    for (int64_t i = 0, first = 0; i < chunks; i++) {
        int64_t n = all / chunks + (i < all % chunks);
        build_chunk(s, c, first, n,
                    c->coll == SK_SCAN ? sk_elems_cut(c, in, 0, n) : sk_recv_elems(c, first, n));
        first += n;
    }
}

static int64_t scratch(const sk_call *c)
{
    return sk_vectors_scratch(c, 1, chunk_of(c));
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    bool scan = k->call->coll == SK_SCAN, first = k->rank == 0, own = first && scan;
    if (k->is_short) {
        bool gives = scan || k->rank < k->p - 1; /* nobody needs the last vector of exscan */
        int64_t copies = gives + own, takes = first ? 0 : k->rank + scan;
        sk_claim_moves(c, 1, copies, copies * k->n, takes, takes * k->n);
        c->rounds = 1 + gives;
        return;
    }
    bool last = k->rank == k->p - 1, adds = scan || !last;
    int64_t elems = k->n / 8, chunks = sk_claim_ceil(elems, chunk_of(k->call)),
            copies = adds + (scan && !last);
    sk_claim_moves(c, chunks, copies * chunks, copies * k->n, first ? 0 : chunks, first ? 0 : k->n);
    c->reduces = first || !adds ? 0 : chunks;
    c->scratch = SK_UNCLAIMED;
}

#define SHARED(COLL)                                                                               \
    {                                                                                              \
        .name = "shm", .coll = (COLL),                                                             \
        .about = "vectors in shared memory, every rank combines those below it; one node",         \
        .fits = fits, .scratch = scratch, .build = build, .claim = claim,                          \
        .rule = {{.when = SK_WHEN_ONE_NODE}},                                                      \
    }

const sk_algo sk_scan_shm = SHARED(SK_SCAN);
const sk_algo sk_exscan_shm = SHARED(SK_EXSCAN);
