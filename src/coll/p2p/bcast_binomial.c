/* bcast_binomial.c: the whole message down a binomial tree (MST).
 * cost   ceil(lg p) (alpha + n beta)    good for  short messages, few ranks
 * rounds ceil(lg p)                     scratch   none
 * paper  global-collectives 4.3 */
#include "coll/algo.h"
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

const sk_algo sk_bcast_binomial = {
    .name = "binomial",
    .coll = SK_BCAST,
    .about = "the whole message down a binomial tree; short messages",
    .build = build,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = sk_flow_tree_message,
    .rule = {{.when = SK_WHEN_ANY}},
};
