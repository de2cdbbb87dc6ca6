/* scan_shm.c: every rank copies its vector to its slot and reduces those of the ranks below it;
 * scan and exscan. Of long vectors every rank computes a part of all prefixes, for all.
 * cost      short: 1 copy, and up to p vectors reduced
 *           long:  1 copy in, one vector's worth copied and one reduced by every rank, 1 copy
 *           out
 * good for  one node, operations of the standard; keeps the order of ranks
 * epochs    1; long: 2 for each chunk
 * steps     3; long: about 3p for each chunk
 * scratch   none
 *
 * A rank waits for ranks above it only where they compute parts of long vectors for it. */
#include "coll/claim.h"
#include "coll/phase/intra_reduce.h"
#include "coll/phase/reduce.h"

static bool fits(const sk_call *c)
{
    return sk_intra_reduce_fits(c, c->nranks);
}

/* Ranks whose vectors are part of my result, and ranks whose vectors are part of any result. */
static int below(const sk_call *c)
{
    return c->rank + (c->coll == SK_SCAN);
}

static int givers(const sk_call *c)
{
    return c->nranks - (c->coll == SK_EXSCAN);
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

typedef struct scan_chunk {
    int64_t first, n; /* elements of the vector */
    int64_t part;     /* elements of each rank; fewer of the last ones */
    int64_t step;     /* bytes from one prefix to the next */
    int in, out;      /* epochs */
} scan_chunk;

static sk_elem_range part_of(const scan_chunk *k, int rank)
{
    int64_t lo = rank * k->part, hi = lo + k->part;
    return (sk_elem_range){.lo = lo < k->n ? lo : k->n, .hi = hi < k->n ? hi : k->n};
}

/* In my slot of the epoch `out`: the prefix up to and including rank i, of the part of `rank`. */
static sk_span prefix(const sk_call *c, const scan_chunk *k, int i, int rank)
{
    sk_elem_range x = part_of(k, rank);
    return sk_elems_slot(c, k->out, i * k->step, x.hi - x.lo);
}

static void make_prefixes(sk_sched *s, const sk_call *c, const scan_chunk *k)
{
    sk_elem_range x = part_of(k, c->rank);
    sk_span in = sk_elems_cut(c, sk_elems_slot(c, k->in, 0, k->n), x.lo, x.hi - x.lo);
    sk_intra_await_all(s, c, k->in);
    for (int i = 0; i < givers(c); i++)
        sk_take(s, i, in, prefix(c, k, i, c->rank));
    for (int i = 1; i < givers(c); i++) {
        sk_fence(s);
        sk_reduce(s, prefix(c, k, i - 1, c->rank), prefix(c, k, i, c->rank));
    }
}

static void take_mine(sk_sched *s, const sk_call *c, const scan_chunk *k)
{
    if (c->rank == 0) {
        if (c->coll == SK_SCAN)
            sk_copy(s, sk_send_elems(c, k->first, k->n), sk_recv_elems(c, k->first, k->n));
        return;
    }
    sk_intra_await_all(s, c, k->out);
    for (int i = 0; i < c->nranks; i++) {
        int from = (c->rank + i) % c->nranks;
        sk_elem_range x = part_of(k, from);
        sk_take(s, from, prefix(c, k, below(c) - 1, from),
                sk_recv_elems(c, k->first + x.lo, x.hi - x.lo));
    }
}

static void build_chunk(sk_sched *s, const sk_call *c, scan_chunk k)
{
    k.part = k.n / c->nranks + (k.n % c->nranks != 0);
    k.step = sk_slot_bytes(&c->types[c->send.type], k.part);
    k.in = sk_epoch(s, sk_elems_bytes(c, k.n), true);
    k.out = sk_epoch(s, givers(c) * k.step, true);
    sk_copy(s, sk_send_elems(c, k.first, k.n), sk_elems_slot(c, k.in, 0, k.n));
    sk_fence(s);
    sk_post(s, k.in);
    make_prefixes(s, c, &k);
    sk_fence(s);
    sk_post(s, k.out);
    take_mine(s, c, &k);
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
    int64_t most = sk_elems_in(c, c->slot_bytes), parts = c->nranks * sk_elems_each(c);
    most = parts < most ? parts : most;
    int64_t chunks = all / most + (all % most != 0);
    scan_chunk k = {0};
    for (int64_t i = 0; i < chunks; i++) {
        k.n = all / chunks + (i < all % chunks);
        build_chunk(s, c, k);
        k.first += k.n;
    }
}

/* Long: every rank computes a part of all prefixes. All ranks together take every vector that
 * counts once, and all but the first rank take their prefix. */
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
    int64_t each =
        sk_intra_epoch_bytes(k->call, SK_INTRA_REDUCE_CHUNK) / k->p / SK_CACHE_LINE * SK_CACHE_LINE;
    int64_t chunks = sk_claim_ceil(k->n, k->p * each), vectors = k->p - !scan;
    sk_claim_moves(c, 2 * chunks, (1 + own) * chunks, (1 + own) * k->n,
                   chunks * (vectors + (first ? 0 : k->p)), SK_UNCLAIMED);
    c->reduces = chunks * (vectors - 1);
    c->all_take_bytes = (vectors + k->p - 1) * k->n;
}

#define SHARED(COLL)                                                                               \
    {                                                                                              \
        .name = "shm", .coll = (COLL),                                                             \
        .about = "vectors in shared memory, every rank combines those below it; one node",         \
        .fits = fits, .build = build, .claim = claim, .rule = {{.when = SK_WHEN_ONE_NODE}},        \
    }

const sk_algo sk_scan_shm = SHARED(SK_SCAN);
const sk_algo sk_exscan_shm = SHARED(SK_EXSCAN);
