/* allgather_bruck.c: Bruck's concatenation: send all blocks to the rank 1, 2, 4 ... before me;
 * allgather and allgatherv. Every rank keeps the blocks in the order me, me+1, me+2 ..., so it
 * always sends from the front and receives at the end.
 * cost   ceil(lg p) alpha + (p-1)/p n beta    good for  short blocks, any p
 * rounds ceil(lg p)    scratch  n: the blocks are rotated, so they need a copy
 * paper  Bruck et al.: Efficient algorithms for all-to-all communications (1997) */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static void build(sk_sched *s, const sk_call *c)
{
    int p = c->nranks, me = c->rank;
    sk_team from_me = sk_team_all(c, me);
    sk_blocks row = {.c = c, .side = SK_RECV, .shift = me};
    sk_span place = sk_blocks_place(s, &row, 0, p);
    sk_parts parts = sk_parts_blocks(&row, place);
    sk_copy(s, sk_send_block(c, 0), sk_parts_range(&parts, 0, 1));
    for (int64_t have = 1; have < p; have *= 2) {
        int dist = (int)have, n = dist < p - dist ? dist : p - dist;
        sk_fence(s);
        sk_send(s, sk_parts_range(&parts, 0, n), sk_team_rank(&from_me, p - dist));
        sk_recv(s, sk_parts_range(&parts, dist, dist + n), sk_team_rank(&from_me, dist));
    }
    sk_fence(s);
    sk_blocks_unpack(s, &row, 0, p, place);
}

static void flow(sk_flow *f, const sk_call *c)
{
    (void)c;
    for (int64_t have = 1; have < f->n; have *= 2) {
        int dist = (int)have, n = dist < f->n - dist ? dist : f->n - dist;
        for (int i = 0; i < f->n; i++)
            sk_flow_pass(f, i, i + f->n - dist, 1, sk_flow_blocks(f, i, n));
    }
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->lg;
    sk_claim_messages(c, k->lg, k->lg, k->n - k->b, k->n - k->b);
}

const sk_algo sk_allgather_bruck = {
    .name = "bruck",
    .coll = SK_ALLGATHER,
    .about =
        "hand all data on at doubling distances, then turn it; short blocks, any number of ranks",
    .fits = sk_call_whole, /* it rewrites all blocks at the end, also those of other leaders */
    .scratch = sk_allgather_scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = flow,
    .rule = {{.when = SK_WHEN_ANY}},
};

const sk_algo sk_allgatherv_bruck = {
    .name = "bruck",
    .coll = SK_ALLGATHERV,
    .about =
        "hand all data on at doubling distances, then turn it; short blocks, any number of ranks",
    .fits = sk_call_whole, /* it rewrites all blocks at the end, also those of other leaders */
    .scratch = sk_allgather_scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = flow,
    .rule = {{.when = SK_WHEN_ANY}},
};
