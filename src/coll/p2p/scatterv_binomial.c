/* scatterv_binomial.c: small blocks down a binomial tree (MST) with their sizes in the message,
 * large ones straight from the root. Only the root knows all sizes, so a rank inside the
 * tree accepts whatever comes and sends each kid its part.
 * cost   ceil(lg p) alpha + n beta for small blocks, plus alpha per large one
 * good for  short blocks, also very uneven ones
 * rounds ceil(lg p) from the root to the last leaf, at most 2 on a rank
 * scratch  about p (1024 + 23) bytes
 * order  between the root and one of its kids the packet comes before the large block
 * paper  global-collectives 4.1.2, where it is left as an idea */
#include "coll/claim.h"
#include "coll/phase/p2p.h"

static void send_kids(sk_sched *s, const sk_tree *tree, int packet)
{
    for (int i = tree->nkids - 1; i >= 0; i--) {
        const sk_edge *e = &tree->kid[i];
        sk_packet_send(s, packet, e->lo, e->hi, e->rank);
    }
}

static void build_root(sk_sched *s, const sk_call *c, const sk_team *team, const sk_tree *tree)
{
    sk_blocks row = {.c = c, .side = SK_SEND, .shift = c->root};
    int packet = sk_ride_packet_of(s, &row, 1, team->n);
    for (int i = 1; i < team->n; i++)
        if (sk_rides(sk_blocks_get(&row, i)))
            sk_put(s, packet, i, sk_blocks_get(&row, i));
    sk_fence(s);
    send_kids(s, tree, packet);
    for (int i = 1; i < team->n; i++)
        if (!sk_rides(sk_blocks_get(&row, i)))
            sk_send(s, sk_blocks_get(&row, i), sk_team_rank(team, i));
    sk_copy(s, sk_blocks_get(&row, 0), sk_recv_block(c, 0));
}

static void build_other(sk_sched *s, const sk_call *c, const sk_team *team, const sk_tree *tree)
{
    sk_span mine = sk_recv_block(c, 0);
    int packet = sk_ride_packet_any(s, tree);
    sk_packet_recv(s, packet, tree->up.rank);
    if (tree->nkids > 0) /* the kids must not wait for my large block */
        sk_fence(s);
    send_kids(s, tree, packet);
    if (!sk_rides(mine)) {
        sk_recv(s, mine, c->root);
        return;
    }
    if (tree->nkids == 0)
        sk_fence(s);
    sk_get(s, packet, team->me, mine);
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

/* The sizes travel with the data, so there are no more messages than where all ranks know them. The
 * root sends to its kids in one round: what remains is the depth of the tree. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->steps = k->fl;
    if (k->at_root)
        sk_claim_messages(c, k->lg, 0, SK_UNCLAIMED, SK_UNCLAIMED);
    c->all_sends = k->p - 1;
}

const sk_algo sk_scatterv_binomial = {
    .name = "binomial",
    .coll = SK_SCATTERV,
    .about = "small blocks down a binomial tree with their sizes, large ones direct; short blocks",
    .fits = sk_call_whole, /* packets belong to a whole schedule */
    .scratch = sk_ride_scratch,
    .build = build,
    .claim = claim,
    .prefers = SK_PREFERS_SEQUENTIAL,
    .flow = sk_flow_tree_message, /* sizes are not known to all */
    /* Only the root knows the sizes, so only p can decide. */
    .rule = {{.when = SK_WHEN_ANY, .ranks = SK_SET_SCATTERV_RANKS}},
};
