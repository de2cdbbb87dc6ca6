/* gatherv_binomial.c: small blocks up a binomial tree (MST) with their sizes in the message, large
 * ones straight to the root. A rank inside the tree does not know what its kids send: it appends
 * whatever comes to its packet.
 * cost   ceil(lg p) alpha + n beta for small blocks, plus alpha per large one
 * good for  short blocks, also very uneven ones
 * rounds ceil(lg p)    scratch  about p (1024 + 23) bytes
 * order  from a kid to the root, the large block comes before the packet. The root receives all
 *        large blocks first, so no rank waits before it sends its own.
 * paper  global-collectives 4.1.2, where it is left as an idea */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

/* One at a time: packets are appended, so their blocks are in rising order of members. */
static void recv_kids(sk_sched *s, const sk_tree *tree, int packet)
{
    for (int i = 0; i < tree->nkids; i++) {
        sk_packet_recv(s, packet, tree->kid[i].rank);
        sk_fence(s);
    }
}

static void build_root(sk_sched *s, const sk_call *c, const sk_team *team, const sk_tree *tree)
{
    sk_blocks row = {.c = c, .side = SK_RECV, .shift = c->root};
    int packet = sk_ride_packet_of(s, &row, 1, team->n);
    sk_copy(s, sk_send_block(c, 0), sk_blocks_get(&row, 0));
    for (int i = 1; i < team->n; i++)
        if (!sk_rides(sk_blocks_get(&row, i)))
            sk_recv(s, sk_blocks_get(&row, i), sk_team_rank(team, i));
    recv_kids(s, tree, packet);
    for (int i = 1; i < team->n; i++)
        if (sk_rides(sk_blocks_get(&row, i)))
            sk_get(s, packet, i, sk_blocks_get(&row, i));
}

static void build_other(sk_sched *s, const sk_call *c, const sk_team *team, const sk_tree *tree)
{
    sk_span mine = sk_send_block(c, 0);
    int packet = sk_ride_packet_any(s, tree);
    if (sk_rides(mine)) {
        sk_put(s, packet, team->me, mine);
        sk_fence(s);
    } else {
        sk_send(s, mine, c->root);
    }
    recv_kids(s, tree, packet);
    sk_packet_send(s, packet, tree->up.lo, tree->up.hi, tree->up.rank);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_team team = sk_team_all(c, c->root);
    sk_tree tree = sk_tree_of(&team);
    if (c->rank == c->root)
        build_root(s, c, &team, &tree);
    else
        build_other(s, c, &team, &tree);
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->lg;
    if (k->at_root)
        sk_claim_messages(c, 0, k->lg, SK_UNCLAIMED, SK_UNCLAIMED);
    c->all_sends = k->p - 1;
}

const sk_algo sk_gatherv_binomial = {
    .name = "binomial",
    .coll = SK_GATHERV,
    .about = "small blocks up a binomial tree with their sizes, large ones direct; short blocks",
    .fits = sk_call_whole, /* packets belong to a whole schedule */
    .scratch = sk_ride_scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = sk_flow_tree_message, /* sizes are not known to all */
    /* Only the root knows the sizes, so only p can decide. */
    .rule = {{.when = SK_WHEN_ANY, .ranks = SK_SET_GATHERV_RANKS}},
};
