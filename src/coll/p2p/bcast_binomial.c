/* bcast_binomial.c: the whole message down a binomial tree (MST).
 * cost   ceil(lg p) (alpha + n beta)    good for  short messages, few ranks
 * rounds ceil(lg p)                     scratch   none
 * paper  global-collectives 4.3 */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static void build(sk_sched *s, const sk_call *c)
{
    sk_team team = sk_team_all(c, c->root);
    sk_tree tree = sk_tree_of(&team);
    tree.up.at = sk_recv_block(c, 0);
    for (int i = 0; i < tree.nkids; i++)
        tree.kid[i].at = tree.up.at;
    sk_tree_down(s, &tree);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->lg;
    if (k->at_root)
        sk_claim_messages(c, k->lg, 0, k->lg * k->n, 0);
    else
        sk_claim_messages(c, SK_UNCLAIMED, 1, SK_UNCLAIMED, k->n);
    c->all_sends = k->p - 1;
    c->all_send_bytes = (k->p - 1) * k->n;
}

const sk_algo sk_bcast_binomial = {
    .name = "binomial",
    .coll = SK_BCAST,
    .about = "the whole message down a binomial tree; short messages",
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = sk_flow_tree_message,
    .rule = {{.when = SK_WHEN_ANY}},
};
