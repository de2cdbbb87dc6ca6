/* scan_linear.c: a chain: receive the prefix of the rank before, reduce, send it on; scan
 * and exscan.
 * cost   (p-1)(alpha + n beta + n gamma)    good for  few ranks; calls back to back, which overlap
 * rounds 2 on a rank, p-1 in a row          scratch   one vector; two for exscan */
#include "coll/claim.h"
#include "coll/phase/reduce.h"

static void build(sk_sched *s, const sk_call *c)
{
    int last = c->nranks - 1, me = c->rank;
    sk_prefix x = sk_prefix_new(s, c);
    if (me > 0)
        sk_prefix_take(s, &x, me - 1, me < last);
    if (me < last)
        sk_send(s, x.with.at, me + 1);
    sk_prefix_end(s, &x);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    bool first = k->rank == 0, last = k->rank == k->p - 1;
    c->steps = k->p - 1;
    sk_claim_messages(c, !last, !first, last ? 0 : k->n, first ? 0 : k->n);
}

const sk_algo sk_scan_linear = {
    .name = "linear",
    .coll = SK_SCAN,
    .about = "a chain; few ranks, or calls back to back",
    .scratch = sk_prefix_scratch,
    .build = build,
    .chain = true,
    .claim = claim,
};

const sk_algo sk_exscan_linear = {
    .name = "linear",
    .coll = SK_EXSCAN,
    .about = "a chain; few ranks, or calls back to back",
    .scratch = sk_prefix_scratch,
    .build = build,
    .chain = true,
    .claim = claim,
};
