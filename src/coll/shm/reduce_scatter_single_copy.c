/* reduce_scatter_single_copy.c: every rank reads its block of all vectors where they lie, and reduces
 * it; reduce_scatter and reduce_scatter_block.
 * cost      1 copy of a byte, and all wait for all
 * good for  long vectors, one node, operations of the standard; keeps the order of ranks
 * epochs    1
 * steps     about 2p for each chunk of a block
 * scratch   2 chunks; in place, a block: the result is where others still read */
#include "coll/claim.h"
#include "coll/phase/read_fold.h"
#include "coll/phase/reduce.h"

static sk_elem_range block_of(const sk_call *c, int rank)
{
    int64_t first = sk_block_first(c, rank);
    return (sk_elem_range){.lo = first, .hi = first + sk_block_count(c, rank)};
}

static void build(sk_sched *s, const sk_call *c)
{
    if (sk_call_bytes(c) == 0)
        return;
    sk_elem_range mine = block_of(c, c->rank);
    int64_t n = mine.hi - mine.lo;
    int epoch = sk_epoch(s, SK_READ_FOLD_SLOT, true);
    sk_span user = sk_recv_elems(c, 0, n),
            result = c->in_place && n > 0 ? sk_scratch_typed(s, c->send.type, n) : user;
    sk_read_fold_export(s, c, epoch, mine);
    sk_intra_await_all(s, c, epoch);
    sk_read_fold(s, c, epoch, block_of, result);
    sk_intra_quiesce(s, epoch);
    sk_fence(s);
    sk_copy(s, result, user);
}

static int64_t scratch(const sk_call *c)
{
    return sk_read_fold_scratch(c) + sk_vectors_scratch(c, 1, sk_block_longest(c));
}

/* Through slots: the vector in, and a block of all others out. */
static sk_ways ways(const sk_call *c)
{
    sk_copy_costs x = sk_copy_costs_of(c);
    double p = c->nranks, n = (double)sk_call_bytes(c), part = n / p,
           chunk = (double)sk_intra_epoch_bytes(c, SK_INTRA_REDUCE_CHUNK);
    double slots = n * x.in + (n - part) * x.out + sk_copy_waits(&x, n, chunk),
           single = sk_read_fold_time(&x, c, part) + 2 * x.wait;
    return (sk_ways){.slots = sk_copy_time(&x, slots, p * slots),
                     .single = sk_copy_time(&x, single, p * single)};
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t reads = (k->p - 1) * sk_read_fold_reads(k->call, k->b / 8);
    sk_claim_moves(c, 1, SK_UNCLAIMED, SK_UNCLAIMED, reads, (k->p - 1) * k->b);
    c->reduces = reads;
    c->scratch = SK_UNCLAIMED;
}

#define SINGLE_COPY(COLL)                                                                          \
    {                                                                                              \
        .name = "single-copy", .coll = (COLL),                                                     \
        .about =                                                                                   \
            "every rank combines its block, read in the memory of all; one node, long vectors",    \
        .fits = sk_read_fold_fits, .scratch = scratch, .build = build, .claim = claim,             \
        .rule = {{.when = SK_WHEN_ONE_NODE, .from = SK_SET_SINGLE_COPY, .ways = ways}},            \
    }

const sk_algo sk_reduce_scatter_single_copy = SINGLE_COPY(SK_REDUCE_SCATTER);
const sk_algo sk_reduce_scatter_block_single_copy = SINGLE_COPY(SK_REDUCE_SCATTER_BLOCK);
