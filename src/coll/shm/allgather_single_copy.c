/* allgather_single_copy.c: every rank exports its block and reads those of the others; allgather
 * and allgatherv.
 * cost      1 copy of a byte, and all wait for all
 * good for  long blocks, one node
 * epochs    1
 * steps     p + 3
 * scratch   the blocks, where the user's type is not contiguous */
#include "coll/claim.h"
#include "coll/phase/intra.h"

static void build(sk_sched *s, const sk_call *c)
{
    sk_others from = sk_others_of(c, SK_RECV, c->rank);
    sk_span user = sk_send_block(c, 0);
    sk_others_make_copy(s, &from, false);
    int epoch = sk_epoch(s, SK_EXPORT_BYTES, true);
    sk_intra_export(s, epoch, sk_intra_contiguous(s, c, user));
    sk_copy(s, user, sk_recv_block(c, c->rank));
    sk_intra_await_all(s, c, epoch);
    for (int i = 0; i < from.n; i++)
        sk_read(s, sk_others_rank(&from, i), sk_intra_exported(epoch), 0,
                sk_others_block(&from, i));
    sk_intra_quiesce(s, epoch);
    sk_others_unpack(s, &from);
}

static int64_t scratch(const sk_call *c)
{
    sk_blocks all = {.c = c, .side = SK_RECV};
    int64_t bytes = sk_blocks_bytes(&all, 0, c->nranks);
    return sk_intra_scratch(1, bytes) + sk_intra_scratch(1, 1); /* rounded up twice */
}

/* Every byte goes into a slot once, and all others take it; or all others read it. */
static sk_ways ways(const sk_call *c)
{
    sk_copy_costs x = sk_copy_costs_of(c);
    sk_blocks all = {.c = c, .side = SK_RECV};
    double n = (double)sk_blocks_bytes(&all, 0, c->nranks), p = c->nranks,
           chunk = (double)sk_intra_epoch_bytes(c, SK_INTRA_CHUNK);
    double slots = n * (x.in + x.all_out) + p * (p - 1) * sk_copy_waits(&x, n / p, chunk),
           single = n * x.all_read + p * ((p - 1) * x.call + p * x.wait);
    return (sk_ways){.slots = sk_copy_time(&x, slots / p, slots),
                     .single = sk_copy_time(&x, single / p, single)};
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    sk_claim_moves(c, 1, 1, k->b, k->p - 1, (k->p - 1) * k->b);
    if (k->is_short)
        c->rounds = 3;
}

#define SINGLE_COPY(COLL)                                                                          \
    {                                                                                              \
        .name = "single-copy", .coll = (COLL),                                                     \
        .about = "all read the blocks in each other's memory; one node, long blocks",              \
        .fits = sk_single_copy_fits, .scratch = scratch, .build = build, .claim = claim,           \
        .rule = {{.when = SK_WHEN_ONE_NODE, .from = SK_SET_SINGLE_COPY, .ways = ways}},            \
    }

const sk_algo sk_allgather_single_copy = SINGLE_COPY(SK_ALLGATHER);
const sk_algo sk_allgatherv_single_copy = SINGLE_COPY(SK_ALLGATHERV);
