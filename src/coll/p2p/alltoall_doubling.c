/* alltoall_doubling.c: everybody gets everything by recursive doubling, and picks its own blocks.
 * cost   lg p alpha + (p-1) n beta for p = 2^k    good for  very short blocks, few ranks
 * rounds as allgather_doubling    scratch  p n
 * paper  global-collectives 4.5 */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static int64_t scratch(const sk_call *c)
{
    int64_t row = sk_scratch_bytes(c->nranks, sk_call_bytes(c));
    return row == INT64_MAX ? row : sk_scratch_bytes(c->nranks, row);
}

static bool fits(const sk_call *c)
{
    return scratch(c) < INT64_MAX;
}

static void build(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank;
    int64_t bytes = sk_call_bytes(c), row = p * bytes;
    sk_team team = sk_team_all(c, 0);
    sk_blocks mine = {.c = c, .side = SK_SEND};
    sk_span all = sk_scratch(s, p * row);
    sk_parts rows = sk_parts_equal(c, all, 0, row);

    sk_blocks_pack(s, &mine, 0, p, sk_parts_range(&rows, me, me + 1));
    sk_allgather_by_doubling(s, &team, &rows);
    sk_fence(s);
    for (int i = 0; i < p; i++)
        sk_copy(s, sk_span_cut(c->types, sk_parts_range(&rows, i, i + 1), me * bytes, bytes),
                sk_recv_block(c, i));
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t all = (k->p - 1) * k->n;
    if (k->pow2) {
        c->steps = k->lg;
        sk_claim_messages(c, k->lg, k->lg, all, all);
    } else {
        c->max_steps = 2 * k->fl;
        sk_claim_messages(c, SK_UNCLAIMED, SK_UNCLAIMED, SK_UNCLAIMED, all);
    }
}

const sk_algo sk_alltoall_doubling = {
    .name = "doubling",
    .coll = SK_ALLTOALL,
    .about = "everybody gets everything at doubling distances; very short blocks, few ranks",
    .fits = fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = sk_flow_doubling,
    .rule = {{.when = SK_WHEN_ANY}},
};
