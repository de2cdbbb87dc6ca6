/* bcast_scatter_doubling.c: scatter the message down a binomial tree, then allgather it
 * by recursive doubling.
 * cost   2 lg p alpha + 2 (p-1)/p n beta    good for  long messages, p >= 8
 * rounds 2 lg p for p = 2^k, at most ceil(lg p) + 2 floor(lg p) otherwise
 * scratch  n where the user's type is not contiguous
 * paper  global-collectives 4.3 */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static void build(sk_sched *s, const sk_call *c)
{
    sk_team team = sk_team_all(c, c->root);
    sk_span message = sk_message_in(s, c);
    sk_parts parts = sk_parts_even(c, message, c->nranks, 1);
    sk_scatter_by_tree(s, &team, &parts);
    sk_allgather_by_doubling(s, &team, &parts);
    sk_message_out(s, c, message);
}

static void flow(sk_flow *f, const sk_call *c)
{
    sk_flow_tree_blocks(f, c);
    sk_flow_doubling(f, c);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    if (!k->pow2) {
        c->max_steps = k->lg + 2 * k->fl;
        return;
    }
    c->steps = 2 * k->lg;
    if (k->at_root)
        sk_claim_messages(c, 2 * k->lg, k->lg, 2 * (k->n - k->b), k->n - k->b);
}

const sk_algo sk_bcast_scatter_doubling = {
    .name = "scatter-doubling",
    .coll = SK_BCAST,
    .about = "binomial scatter, then recursive-doubling allgather; long messages, 8 ranks and more",
    .scratch = sk_message_scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = flow,
    /* A tree moves n lg p bytes, scatter and allgather 2n: that pays from lg p > 2 on (4.3). */
    .rule = {{.when = SK_WHEN_ANY, .from = SK_SET_BCAST_LONG, .ranks = SK_SET_BCAST_LONG_RANKS}},
};
