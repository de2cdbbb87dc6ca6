/* scatter_single_copy.c: the root exports its blocks, and each of the others reads its own.
 * cost      1 copy of a byte, and the root waits for the last reader
 * good for  long blocks, one node
 * epochs    1
 * steps     4 at the root, 1 elsewhere
 * scratch   the blocks, where the user's type is not contiguous */
#include "coll/claim.h"
#include "coll/phase/intra.h"

static void build(sk_sched *s, const sk_call *c)
{
    int64_t block = sk_call_bytes(c);
    sk_span user = sk_recv_block(c, 0);
    if (block == 0)
        return;
    int epoch = sk_epoch(s, SK_EXPORT_BYTES, false);
    if (c->rank == c->root) {
        sk_intra_export(s, epoch, sk_intra_contiguous_sends(s, c));
        sk_copy(s, sk_send_block(c, c->root), user);
        sk_intra_quiesce(s, epoch);
        return;
    }
    sk_span place = sk_contiguous_place(s, c, user);
    sk_read(s, c->root, sk_intra_exported(epoch), c->rank * block, place);
    sk_fence(s);
    sk_copy(s, place, user);
}

static int64_t scratch(const sk_call *c)
{
    return sk_intra_scratch(c->nranks, sk_call_bytes(c));
}

/* The root alone fills slots for all, but all can read at the same time. */
static sk_ways ways(const sk_call *c)
{
    sk_copy_costs x = sk_copy_costs_of(c);
    double p = c->nranks, b = (double)sk_call_bytes(c), n = (p - 1) * b,
           chunk = (double)sk_intra_flow_bytes(c, (c->nranks - 1) * sk_call_bytes(c)),
           waits = sk_copy_waits(&x, n, chunk);
    return (sk_ways){.slots = sk_copy_time(&x, n * x.in + (b < chunk ? b : chunk) * x.out + waits,
                                           n * (x.in + x.out) + waits),
                     .single = sk_copy_time(&x, b * x.read + x.call + 2 * x.wait,
                                            n * x.read + (p - 1) * x.call + p * x.wait)};
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    if (k->at_root)
        sk_claim_moves(c, 1, 1, k->b, 0, 0);
    else
        sk_claim_moves(c, 1, 0, 0, 1, k->b);
}

const sk_algo sk_scatter_single_copy = {
    .name = "single-copy",
    .coll = SK_SCATTER,
    .about = "each reads its block in the root's memory; one node, long blocks",
    .fits = sk_single_copy_fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE,
              .from = SK_SET_SCATTER_SINGLE_COPY,
              .measure = SK_MEASURE_BLOCKS,
              .otherwise = SK_SET_SINGLE_COPY,
              .ways = ways}},
};
