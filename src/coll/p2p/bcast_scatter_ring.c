/* bcast_scatter_ring.c: scatter the message down a binomial tree, then pass the parts round a ring.
 * cost   (lg p + p-1) alpha + 2 (p-1)/p n beta    good for  very long messages: every rank
 *                                                 sends to its neighbour only
 * rounds ceil(lg p) + p-1    scratch  n where the user's type is not contiguous
 * paper  global-collectives 4.3; van de Geijn et al. */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static void build(sk_sched *s, const sk_call *c)
{
    sk_team team = sk_team_all(c, c->root);
    sk_span message = sk_message_in(s, c);
    sk_parts parts = sk_parts_even(c, message, c->nranks, 1);
    sk_scatter_by_tree(s, &team, &parts);
    sk_allgather_by_ring(s, &team, &parts);
    sk_message_out(s, c, message);
}

static void flow(sk_flow *f, const sk_call *c)
{
    sk_flow_tree_blocks(f, c);
    sk_flow_ring(f, c);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->p > 1 ? k->lg + k->p - 1 : 0;
    if (k->at_root)
        sk_claim_messages(c, k->lg + k->p - 1, k->p - 1, 2 * (k->n - k->b), k->n - k->b);
}

const sk_algo sk_bcast_scatter_ring = {
    .name = "scatter-ring",
    .coll = SK_BCAST,
    .about = "binomial scatter, then ring allgather; very long messages",
    .scratch = sk_message_scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = flow,
};
