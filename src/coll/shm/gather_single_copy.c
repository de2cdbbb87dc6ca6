/* gather_single_copy.c: every rank exports its block, and the root reads them all.
 * cost      1 copy of a byte, and all wait for the root
 * good for  long blocks, one node
 * epochs    1
 * steps     3; p at the root
 * scratch   a block, or all at the root, where the user's type is not contiguous */
#include "coll/claim.h"
#include "coll/phase/intra.h"

static void build(sk_sched *s, const sk_call *c)
{
    if (sk_call_bytes(c) == 0)
        return;
    int epoch = sk_epoch(s, SK_EXPORT_BYTES, false);
    if (c->rank != c->root) {
        sk_intra_export(s, epoch, sk_intra_contiguous(s, c, sk_send_block(c, 0)));
        sk_intra_quiesce(s, epoch);
        return;
    }
    sk_others from = sk_others_of(c, SK_RECV, c->root);
    sk_others_make_copy(s, &from, false);
    for (int i = 0; i < from.n; i++)
        sk_read(s, sk_others_rank(&from, i), sk_intra_exported(epoch), 0,
                sk_others_block(&from, i));
    sk_fence(s); /* from here on the others need not wait */
    sk_copy(s, sk_send_block(c, 0), sk_recv_block(c, c->root));
    sk_others_unpack(s, &from);
}

static int64_t scratch(const sk_call *c)
{
    return sk_intra_scratch(c->nranks - 1, sk_call_bytes(c));
}

/* The root alone takes, or reads, all blocks. Others fill their slots meanwhile. */
static sk_ways ways(const sk_call *c)
{
    sk_copy_costs x = sk_copy_costs_of(c);
    double p = c->nranks, b = (double)sk_call_bytes(c), n = (p - 1) * b,
           chunk = (double)sk_intra_flow_bytes(c, sk_call_bytes(c)),
           waits = (p - 1) * sk_copy_waits(&x, b, chunk),
           single = n * x.read + (p - 1) * x.call + p * x.wait;
    return (sk_ways){.slots = sk_copy_time(&x, n * x.out + (b < chunk ? b : chunk) * x.in + waits,
                                           n * (x.in + x.out) + waits),
                     .single = sk_copy_time(&x, single, single + (p - 1) * x.wait)};
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    if (k->at_root)
        sk_claim_moves(c, 1, 1, k->b, k->p - 1, (k->p - 1) * k->b);
    else
        sk_claim_moves(c, 1, 0, 0, 0, 0);
}

const sk_algo sk_gather_single_copy = {
    .name = "single-copy",
    .coll = SK_GATHER,
    .about = "the root reads the blocks in the memory of all; one node, long blocks",
    .fits = sk_single_copy_fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE, .from = SK_SET_SINGLE_COPY, .ways = ways}},
};
