/* allgather_doubling.c: recursive doubling: exchange all blocks with the rank at distance 1, 2,
 * 4 and so on; allgather and allgatherv.
 * cost   lg p alpha + (p-1)/p n beta for p = 2^k    good for  short and medium blocks
 * rounds lg p for p = 2^k, otherwise at most 2 floor(lg p): where a subtree is incomplete,
 *        ranks without a partner get what they miss from others, in halving distances
 * scratch  n where the user's blocks do not follow each other
 * paper  global-collectives 4.2 */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static void build(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank;
    sk_team team = sk_team_all(c, 0);
    sk_blocks row = {.c = c, .side = SK_RECV};
    sk_span place = sk_blocks_place(s, &row, 0, p);
    sk_parts parts = sk_parts_blocks(&row, place);
    sk_copy(s, sk_send_block(c, 0), sk_parts_range(&parts, me, me + 1));
    sk_allgather_by_doubling(s, &team, &parts);
    sk_fence(s);
    sk_blocks_unpack(s, &row, 0, p, place);
}

/* No byte comes twice, for any p. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t data = k->n - k->b;
    if (k->pow2) {
        c->steps = k->lg;
        sk_claim_messages(c, k->lg, k->lg, data, data);
    } else {
        c->max_steps = 2 * k->fl;
        sk_claim_messages(c, SK_UNCLAIMED, SK_UNCLAIMED, SK_UNCLAIMED, data);
    }
}

const sk_algo sk_allgather_doubling = {
    .name = "doubling",
    .coll = SK_ALLGATHER,
    .about = "exchange all data at doubling distances; short and medium blocks",
    .scratch = sk_allgather_scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = sk_flow_doubling,
    /* Up to 2 lg p steps where p is no power of two: there Bruck is better, except inside another
     * algorithm, where it cannot run. */
    .rule = {{.when = SK_WHEN_POWER_OF_TWO}, {.when = SK_WHEN_SUB}},
};

const sk_algo sk_allgatherv_doubling = {
    .name = "doubling",
    .coll = SK_ALLGATHERV,
    .about = "exchange all data at doubling distances; short and medium blocks",
    .scratch = sk_allgather_scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = sk_flow_doubling,
    /* Up to 2 lg p steps where p is no power of two: there Bruck is better, except inside another
     * algorithm, where it cannot run. */
    .rule = {{.when = SK_WHEN_POWER_OF_TWO}, {.when = SK_WHEN_SUB}},
};
