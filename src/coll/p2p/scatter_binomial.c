/* scatter_binomial.c: blocks down a binomial tree (MST), each message carrying a whole subtree's.
 * cost   ceil(lg p) alpha + (p-1)/p n beta    good for  short and medium blocks
 * rounds ceil(lg p)    scratch  n/2 inside the tree; at the root only what goes round the end
 * paper  global-collectives 4.1 */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static void build_root(sk_sched *s, const sk_call *c, sk_tree *tree)
{
    sk_blocks row = {.c = c, .side = SK_SEND, .shift = c->root};
    sk_copy(s, sk_blocks_get(&row, 0), sk_recv_block(c, 0));
    for (int i = 0; i < tree->nkids; i++) {
        sk_edge *e = &tree->kid[i];
        e->at = sk_blocks_place(s, &row, e->lo, e->hi);
        sk_blocks_pack(s, &row, e->lo, e->hi, e->at);
    }
    sk_tree_down(s, tree);
}

static void build_other(sk_sched *s, const sk_call *c, sk_tree *tree)
{
    sk_span mine = sk_recv_block(c, 0);
    int64_t members = tree->up.hi - tree->up.lo;
    sk_span at = members == 1 ? mine : sk_scratch(s, members * mine.len);
    sk_parts parts = sk_parts_equal(c, at, tree->up.lo, mine.len);
    sk_tree_carry(tree, &parts);
    sk_tree_down(s, tree);
    sk_copy(s, sk_parts_range(&parts, tree->up.lo, tree->up.lo + 1), mine);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_team team = sk_team_all(c, c->root);
    sk_tree tree = sk_tree_of(&team);
    if (c->rank == c->root)
        build_root(s, c, &tree);
    else
        build_other(s, c, &tree);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->lg;
    if (k->at_root)
        sk_claim_messages(c, k->lg, 0, k->n - k->b, 0);
    else
        sk_claim_messages(c, SK_UNCLAIMED, 1, SK_UNCLAIMED, SK_UNCLAIMED);
    c->all_sends = k->p - 1;
}

const sk_algo sk_scatter_binomial = {
    .name = "binomial",
    .coll = SK_SCATTER,
    .about = "blocks down a binomial tree; short and medium blocks",
    .scratch = sk_tree_scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = sk_flow_tree_blocks,
    .rule = {{.when = SK_WHEN_ANY}},
};
