/* bcast_single_copy.c: the root exports its message, and the others read it.
 * cost      1 copy of a byte, and the root waits for the last reader
 * good for  long messages, one node
 * epochs    1
 * steps     3
 * scratch   the message, where the user's type is not contiguous */
#include "coll/claim.h"
#include "coll/phase/intra.h"

static void build(sk_sched *s, const sk_call *c)
{
    sk_span user = sk_recv_block(c, 0);
    if (user.len == 0)
        return;
    int epoch = sk_epoch(s, SK_EXPORT_BYTES, false);
    if (c->rank == c->root) {
        sk_intra_export(s, epoch, sk_intra_contiguous(s, c, user));
        sk_intra_quiesce(s, epoch);
        return;
    }
    sk_span place = sk_contiguous_place(s, c, user);
    sk_read(s, c->root, sk_intra_exported(epoch), 0, place);
    sk_fence(s);
    sk_copy(s, place, user);
}

static int64_t scratch(const sk_call *c)
{
    return sk_intra_scratch(1, sk_call_bytes(c));
}

/* Through slots the readers follow the root by a chunk. */
static sk_ways ways(const sk_call *c)
{
    sk_copy_costs x = sk_copy_costs_of(c);
    double n = (double)sk_call_bytes(c), chunk = (double)sk_intra_flow_bytes(c, sk_call_bytes(c)),
           waits = sk_copy_waits(&x, n, chunk), others = c->nranks - 1;
    double first = n < chunk ? n : chunk, slow = x.in > x.out ? x.in : x.out,
           fast = x.in + x.out - slow;
    return (sk_ways){.slots = sk_copy_time(&x, n * slow + first * fast + waits,
                                           n * (x.in + x.all_out) + others * waits),
                     .single =
                         sk_copy_time(&x, n * x.read + x.call + 2 * x.wait,
                                      n * x.all_read + others * x.call + (others + 1) * x.wait)};
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    sk_claim_moves(c, 1, 0, 0, !k->at_root, k->at_root ? 0 : k->n);
    if (k->is_short)
        c->rounds = k->at_root ? 3 : 1;
}

const sk_algo sk_bcast_single_copy = {
    .name = "single-copy",
    .coll = SK_BCAST,
    .about = "all read the message in the root's memory; one node, long messages",
    .fits = sk_single_copy_fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ONE_NODE, .from = SK_SET_SINGLE_COPY, .ways = ways}},
};
