/* scan_doubling.c: send the prefix to the rank d further on, for d = 1, 2, 4, ...; scan and exscan.
 * cost   ceil(lg p)(alpha + n beta + n gamma)    good for  all but few ranks and long vectors
 * rounds ceil(lg p)                              scratch   one vector; two for exscan
 * paper  Hillis and Steele, Data parallel algorithms, 1986
 *
 * After distance d a rank's value covers the 2d ranks that end with it, so operands come from the
 * left, in rank order. */
#include "coll/claim.h"
#include "coll/phase/reduce.h"

static void build(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank;
    sk_prefix x = sk_prefix_new(s, c);
    for (int d = 1; d < p; d *= 2) {
        if (d < p - me)
            sk_send(s, x.with.at, me + d);
        if (d <= me)
            sk_prefix_take(s, &x, me - d, 2 * (int64_t)d < p - me);
        sk_fence(s);
    }
    sk_prefix_end(s, &x);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t sends = 0, recvs = 0;
    for (int64_t d = 1; d < k->p; d *= 2) {
        sends += k->rank + d < k->p;
        recvs += k->rank >= d;
    }
    c->steps = k->lg;
    sk_claim_messages(c, sends, recvs, sends * k->n, recvs * k->n);
}

const sk_algo sk_scan_doubling = {
    .name = "doubling",
    .coll = SK_SCAN,
    .about = "pass prefixes on, distance doubling; short vectors, many ranks",
    .scratch = sk_prefix_scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ANY}},
};

const sk_algo sk_exscan_doubling = {
    .name = "doubling",
    .coll = SK_EXSCAN,
    .about = "pass prefixes on, distance doubling; short vectors, many ranks",
    .scratch = sk_prefix_scratch,
    .build = build,
    .claim = claim,
    .rule = {{.when = SK_WHEN_ANY}},
};
