/* allgather_ring.c: pass blocks round a ring; allgather and allgatherv.
 * cost   (p-1)(alpha + n/p beta)    good for  long blocks, any p
 * rounds p-1                        scratch   none
 * paper  global-collectives 4.2 */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static void build(sk_sched *s, const sk_call *c)
{
    sk_team team = sk_team_all(c, 0);
    sk_blocks row = {.c = c, .side = SK_RECV};
    sk_parts blocks = sk_parts_loose(&row);
    sk_copy(s, sk_send_block(c, 0), sk_recv_block(c, c->rank));
    sk_allgather_by_ring(s, &team, &blocks);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->p - 1;
    sk_claim_messages(c, k->p - 1, k->p - 1, k->n - k->b, k->n - k->b);
}

const sk_algo sk_allgather_ring = {
    .name = "ring",
    .coll = SK_ALLGATHER,
    .about = "pass blocks round a ring; long blocks",
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = sk_flow_ring,
    .rule = {{.when = SK_WHEN_ANY, .from = SK_SET_ALLGATHER_LONG, .measure = SK_MEASURE_BLOCKS}},
};

const sk_algo sk_allgatherv_ring = {
    .name = "ring",
    .coll = SK_ALLGATHERV,
    .about = "pass blocks round a ring; long blocks of about the same length",
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = sk_flow_ring,
    .rule = {{.when = SK_WHEN_ANY, .from = SK_SET_ALLGATHER_LONG}},
};
