/* barrier_dissemination.c: in round k signal rank me+2^k, wait for rank me-2^k.
 * After round k a rank knows, directly or through others, of the 2^(k+1) - 1 ranks before it.
 * cost   ceil(lg p) alpha    good for  any p
 * rounds ceil(lg p)          scratch   none
 * paper  Hensgen, Finkel, Manber: Two algorithms for barrier synchronization (1988) */
#include "coll/claim.h"

static void build(sk_sched *s, const sk_call *c)
{
    int64_t p = c->nranks, me = c->rank;
    for (int64_t dist = 1; dist < p; dist *= 2) {
        sk_fence(s);
        sk_send_signal(s, (int)((me + dist) % p));
        sk_recv_signal(s, (int)((me + p - dist) % p));
    }
}

static void flow(sk_flow *f, const sk_call *c)
{
    (void)c;
    for (int64_t dist = 1; dist < f->n; dist *= 2)
        for (int i = 0; i < f->n; i++)
            sk_flow_pass(f, i, (int)((i + dist) % f->n), 1, 0);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->lg;
    sk_claim_messages(c, k->lg, k->lg, 0, 0);
}

const sk_algo sk_barrier_dissemination = {
    .name = "dissemination",
    .coll = SK_BARRIER,
    .about = "signals to ranks at doubling distances; any number of ranks",
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = flow,
    .rule = {{.when = SK_WHEN_ANY}},
};
