/* scatter_linear.c: the root sends every rank its block; scatter and scatterv.
 * cost   (p-1) alpha + (p-1)/p n beta    good for  long blocks
 * rounds 1, with p-1 messages at the root    scratch  none
 * paper  global-collectives 4.1, 4.1.2 */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static void build(sk_sched *s, const sk_call *c)
{
    if (c->rank != c->root) {
        sk_recv(s, sk_recv_block(c, 0), c->root);
        return;
    }
    int p = c->nranks;
    for (int64_t i = 1; i < p; i++) {
        int peer = (int)((c->root + i) % p);
        sk_send(s, sk_send_block(c, peer), peer);
    }
    sk_copy(s, sk_send_block(c, c->root), sk_recv_block(c, 0));
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    if (k->at_root)
        sk_claim_messages(c, k->p - 1, 0, k->n - k->b, 0);
    else
        sk_claim_messages(c, 0, 1, 0, k->b);
}

const sk_algo sk_scatter_linear = {
    .name = "linear",
    .coll = SK_SCATTER,
    .about = "the root sends every rank its block; long blocks",
    .build = build,
    .claim = claim,
    .straight = true,
    /* The tree has fewer steps, but moves the bytes lg p / 2 times in all (4.1): measured on one
     * node, long blocks are faster without it. */
    .rule = {{.when = SK_WHEN_ANY, .from = SK_SET_SCATTER_LONG, .formula = sk_linear_cutoff}},
};

const sk_algo sk_scatterv_linear = {
    .name = "linear",
    .coll = SK_SCATTERV,
    .about = "the root sends every rank its block; long blocks",
    .build = build,
    .claim = claim,
    .straight = true,
    .rule = {{.when = SK_WHEN_ANY}},
};
