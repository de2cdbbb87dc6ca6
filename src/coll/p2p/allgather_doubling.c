/* allgather_doubling.c: recursive doubling: exchange all I have with the rank at distance 1, 2, 4
 * and so on; allgather and allgatherv.
 * cost   lg p alpha + (p-1)/p n beta for p = 2^k    good for  short and medium blocks
 * rounds lg p for p = 2^k, otherwise at most 2 floor(lg p): at the level where a subtree is cut
 *        off, those who found no partner are given what they missed, in halving distances
 * scratch  n where the user's blocks do not follow each other
 * paper  global-collectives 4.2 */
#include "coll/algo.h"
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

const sk_algo sk_allgather_doubling = {
    .name = "doubling",
    .coll = SK_ALLGATHER,
    .about = "exchange all data at doubling distances; short and medium blocks",
    .scratch = sk_allgather_scratch,
    .build = build,
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
    .prefers = SK_PREFERS_ROUND_ROBIN,
    .flow = sk_flow_doubling,
    /* Up to 2 lg p steps where p is no power of two: there Bruck is better, except inside another
     * algorithm, where it cannot run. */
    .rule = {{.when = SK_WHEN_POWER_OF_TWO}, {.when = SK_WHEN_SUB}},
};
