/* allreduce_rabenseifner.c: halve the vector until every rank has reduced its share of it, then
 * join the shares the same way back.
 * cost   2 lg p alpha + 2n beta + n gamma     good for  long vectors, p a power of two
 * rounds 2 lg p; otherwise 2 floor(lg p) + 2  scratch   one vector
 * paper  Rabenseifner, Optimization of collective reduction operations, 2004
 *
 * When p is no power of two, folding costs 2n more beta and n more gamma. */
#include "coll/claim.h"
#include "coll/phase/reduce.h"

static void build(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c);
    sk_span result = sk_recv_elems(c, 0, n);
    sk_acc a = sk_acc_new(c, 0, n, result);
    sk_fold f = sk_fold_of(c, -1);
    int partner = sk_fold_partner(&f, c->rank);

    sk_fold_in(s, &f, &a);
    sk_halve_and_join(s, &f, &a, -1);
    if (partner < 0)
        return;
    if (sk_fold_member(&f, c->rank) < 0)
        sk_recv(s, result, partner);
    else
        sk_send(s, result, partner);
}

static int64_t scratch(const sk_call *c)
{
    return sk_vectors_scratch(c, 1, sk_call_elems(c));
}

static void flow(sk_flow *w, const sk_call *c)
{
    sk_fold f = sk_fold_of(c, -1);
    sk_fold_flow(w, &f, 2, f.q);
    sk_halve_and_join_flow(w, &f, -1);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t data = 2 * (k->n - k->b);
    c->steps = k->pow2 ? 2 * k->lg : 2 * k->fl + 2;
    if (k->pow2)
        sk_claim_messages(c, 2 * k->lg, 2 * k->lg, data, data);
}

const sk_algo sk_allreduce_rabenseifner = {
    .name = "rabenseifner",
    .coll = SK_ALLREDUCE,
    .about = "recursive halving and back; long vectors, powers of two",
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = flow,
    .rule = {{.when = SK_WHEN_ANY, .from = SK_SET_ALLREDUCE_LONG}},
};
