/* reduce_rabenseifner.c: halve the vector until every rank has reduced its share of it, then gather
 * the shares at the root.
 * cost   2 lg p alpha + 2n beta + n gamma    good for  long vectors
 * rounds 2 lg p; otherwise 2 floor(lg p) + 1, with n more beta and gamma
 * scratch two vectors
 * paper  Rabenseifner, Optimization of collective reduction operations, 2004 */
#include "coll/claim.h"
#include "coll/phase/reduce.h"

static void build(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c);
    sk_span none = {0}, result = sk_recv_elems(c, 0, n);
    sk_acc a = sk_acc_new(c, 0, n, c->rank == c->root ? result : none);
    sk_fold f = sk_fold_of(c, c->root);
    sk_fold_in(s, &f, &a);
    sk_halve_and_join(s, &f, &a, sk_fold_member(&f, c->root));
}

static int64_t scratch(const sk_call *c)
{
    return sk_vectors_scratch(c, 2, sk_call_elems(c));
}

static void flow(sk_flow *w, const sk_call *c)
{
    sk_fold f = sk_fold_of(c, c->root);
    sk_fold_flow(w, &f, 1, f.q);
    sk_halve_and_join_flow(w, &f, sk_fold_member(&f, c->root));
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t data = k->n - k->b;
    c->steps = k->pow2 ? 2 * k->lg : 2 * k->fl + 1;
    if (k->pow2 && k->at_root)
        sk_claim_messages(c, k->lg, 2 * k->lg, data, 2 * data);
}

const sk_algo sk_reduce_rabenseifner = {
    .name = "rabenseifner",
    .coll = SK_REDUCE,
    .about = "recursive halving, then gather; long vectors",
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = flow,
    /* 4.1 takes the tree at every size; measured on one node it wins up to 256 KB. With few ranks the tree sends at most a
     * third more one after the other, and less in all: over TCP, where bytes are work of the cores, it is the faster one. */
    .rule = {{.when = SK_WHEN_ANY, .from = SK_SET_REDUCE_LONG, .ranks = SK_SET_REDUCE_LONG_RANKS}},
};
