/* alltoall_single_copy.c: every rank exports its blocks and reads its own from the others.
 * cost      1 copy of a byte, and all wait for all
 * good for  long blocks, one node
 * epochs    1
 * steps     p + 3
 * scratch   what is sent, in place; all blocks, where the user's type is not contiguous */
#include "coll/claim.h"
#include "coll/phase/intra.h"

static void build(sk_sched *s, const sk_call *c)
{
    int64_t block = sk_call_bytes(c);
    sk_others from = sk_others_of(c, SK_RECV, c->rank);
    if (block == 0)
        return;
    sk_others_make_copy(s, &from, false);
    int epoch = sk_epoch(s, SK_EXPORT_BYTES, true);
    sk_intra_export(s, epoch, sk_intra_contiguous_sends(s, c));
    sk_copy(s, sk_send_block(c, c->rank), sk_recv_block(c, c->rank));
    sk_intra_await_all(s, c, epoch);
    for (int i = 0; i < from.n; i++)
        sk_read(s, sk_others_rank(&from, i), sk_intra_exported(epoch), c->rank * block,
                sk_others_block(&from, i));
    sk_intra_quiesce(s, epoch);
    sk_others_unpack(s, &from);
}

static int64_t scratch(const sk_call *c)
{
    return sk_intra_scratch(2 * (int64_t)c->nranks - 1, sk_call_bytes(c));
}

/* Every byte goes into a slot and out of it; or it is read. */
static sk_ways ways(const sk_call *c)
{
    sk_copy_costs x = sk_copy_costs_of(c);
    double p = c->nranks, n = (p - 1) * (double)sk_call_bytes(c),
           chunk = (double)sk_intra_epoch_bytes(c, SK_INTRA_CHUNK);
    double slots = n * (x.in + x.out) + sk_copy_waits(&x, n, chunk),
           single = n * x.read + (p - 1) * x.call + p * x.wait;
    return (sk_ways){.slots = sk_copy_time(&x, slots, p * slots),
                     .single = sk_copy_time(&x, single, p * single)};
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    sk_claim_moves(c, 1, 1, k->b, k->p - 1, (k->p - 1) * k->b);
    if (k->is_short)
        c->rounds = 3;
}

const sk_algo sk_alltoall_single_copy = {
    .name = "single-copy",
    .coll = SK_ALLTOALL,
    .about = "each reads its blocks in the memory of all; one node, long blocks",
    .fits = sk_single_copy_fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE,
              .from = SK_SET_ALLTOALL_SINGLE_COPY,
              .measure = SK_MEASURE_MATRIX,
              .otherwise = SK_SET_SINGLE_COPY,
              .ways = ways}},
};
