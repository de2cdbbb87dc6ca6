/* gather_linear.c: every rank sends its block to the root; gather and gatherv.
 * cost   (p-1) alpha + (p-1)/p n beta    good for  long blocks
 * rounds 1, with p-1 messages at the root    scratch  none
 * paper  global-collectives 4.1, 4.1.2 */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static void build(sk_sched *s, const sk_call *c)
{
    if (c->rank != c->root) {
        sk_send(s, sk_send_block(c, 0), c->root);
        return;
    }
    int p = c->nranks;
    for (int64_t i = 1; i < p; i++) {
        int peer = (int)((c->root + i) % p);
        sk_recv(s, sk_recv_block(c, peer), peer);
    }
    sk_copy(s, sk_send_block(c, 0), sk_recv_block(c, c->root));
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    if (k->at_root)
        sk_claim_messages(c, 0, k->p - 1, 0, k->n - k->b);
    else
        sk_claim_messages(c, 1, 0, k->b, 0);
}

const sk_algo sk_gather_linear = {
    .name = "linear",
    .coll = SK_GATHER,
    .about = "every rank sends its block to the root; long blocks",
    .build = build,
    .claim = claim,
    .straight = true,
    /* The tree has fewer steps, but moves the bytes lg p / 2 times in all (4.1): measured on one
     * node, long blocks are faster without it. */
    .rule = {{.when = SK_WHEN_ANY, .from = SK_SET_GATHER_LONG, .formula = sk_linear_cutoff}},
};

const sk_algo sk_gatherv_linear = {
    .name = "linear",
    .coll = SK_GATHERV,
    .about = "every rank sends its block to the root; long blocks",
    .build = build,
    .claim = claim,
    .straight = true,
    .rule = {{.when = SK_WHEN_ANY}},
};
