/* gatherv_leaders.c: the ranks of a node bring their short blocks to their leader, and packets of them go up a tree of
 * leaders to the root, which leads its own node. Long blocks go straight to the root.
 * cost      ceil(lg M) alpha for M nodes, and alpha for each long block; a pass through the memory of a node
 * good for  short blocks, also very uneven ones, several nodes with several ranks each: M - 1 messages between nodes
 * shm       each local rank has a cell of the common slot
 * scratch   at leaders the blocks that go through them
 * order     from a leader to the root, its long block comes before the packet. The root receives all long blocks
 *           first, so no rank waits before it sends its own. */
#include "coll/phase/riders.h"
#include "sched/packet.h"

typedef struct gatherv_job {
    sk_riders riders;
    sk_tree tree; /* of leaders */
    int packet;   /* at leaders: the blocks of the nodes of my subtree, by node and local rank */
    int epoch;
} gatherv_job;

/* My block to my node's leader. */
static void bring(sk_hier *l, const gatherv_job *x)
{
    sk_span mine = sk_send_block(l->c, 0);
    if (l->in_shm)
        sk_riders_fill(l->s, &x->riders, mine, x->epoch, l->local_rank, sk_packet(l->s, 0, 0));
    else if (sk_riders_take(&x->riders, mine))
        sk_put(l->s, x->packet, sk_riders_first_key(l, x->tree.up.lo), mine);
    sk_fence(l->s);
    if (l->in_shm)
        sk_post(l->s, x->epoch);
}

/* Or straight to the root. */
static void send_long(sk_hier *l, const gatherv_job *x)
{
    sk_span mine = sk_send_block(l->c, 0);
    if (sk_riders_refuse(&x->riders, mine))
        sk_send(l->s, mine, l->c->root);
}

/* One at a time: packets are appended, so their blocks are in rising order of keys. The root has one for each. */
static void recv_kids(sk_hier *l, const gatherv_job *x)
{
    for (int i = 0; i < x->tree.nkids; i++) {
        sk_packet_recv(l->s, x->packet, x->tree.kid[i].rank);
        sk_fence(l->s);
    }
}

static void lead(sk_hier *l, const gatherv_job *x)
{
    int first = sk_riders_first_key(l, x->tree.up.lo);
    if (l->in_shm) {
        sk_await_local(l->s, x->epoch, 0, l->nlocal);
        sk_fence(l->s);
        for (int i = 0; i < l->nlocal; i++)
            sk_put_sized(l->s, x->packet, first + i,
                         sk_riders_common(&x->riders, x->epoch, i, x->riders.most));
    }
    send_long(l, x);
    sk_fence(l->s);
    recv_kids(l, x);
    sk_packet_send(l->s, x->packet, first, sk_riders_first_key(l, x->tree.up.hi), x->tree.up.rank);
}

/* Those of its own node it takes from their cells, in the end: a rank that waits for a cell seldom looks for messages. */
static void receive_all(sk_hier *l, const gatherv_job *x)
{
    const sk_call *c = l->c;
    const sk_machine *m = l->m;
    int kid[SK_TREE_KIDS]; /* packets */
    if (l->in_shm)
        sk_post(l->s, x->epoch);
    sk_copy(l->s, sk_send_block(c, 0), sk_recv_block(c, c->rank));
    for (int rank = 0; rank < c->nranks; rank++)
        if (rank != c->rank && sk_riders_refuse(&x->riders, sk_recv_block(c, rank)))
            sk_recv(l->s, sk_recv_block(c, rank), rank);
    for (int i = 0; i < x->tree.nkids; i++) {
        kid[i] = sk_riders_packet(l, &x->riders, &x->tree.kid[i]);
        sk_packet_recv(l->s, kid[i], x->tree.kid[i].rank);
    }
    sk_fence(l->s);
    for (int key = 0, i = -1; key < c->nranks; key++) {
        while (i + 1 < x->tree.nkids && key >= sk_riders_first_key(l, x->tree.kid[i + 1].lo))
            i++;
        int rank = sk_riders_rank(l, key);
        sk_span block = sk_recv_block(c, rank);
        if (rank == c->rank || !sk_riders_take(&x->riders, block))
            continue;
        if (m->node[rank] == l->node)
            sk_take_sized(l->s, rank,
                          sk_riders_common(&x->riders, x->epoch, m->local_rank[rank], block.len),
                          block);
        else
            sk_get(l->s, kid[i], key, block);
    }
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_hier l;
    gatherv_job x = {.riders = sk_riders_rooted(c)};
    if (!sk_hier_begin(&l, s, c, 1, true))
        return;
    if (l.in_shm)
        x.epoch = sk_epoch(s, sk_riders_slot_bytes(&x.riders), true);
    if (l.leader >= 0) {
        x.tree = sk_riders_tree(&l);
        if (c->rank != c->root)
            x.packet = sk_riders_packet(&l, &x.riders, &x.tree.up);
    }
    if (c->rank == c->root)
        receive_all(&l, &x);
    else {
        bring(&l, &x);
        (l.leader >= 0 ? lead : send_long)(&l, &x);
    }
    sk_hier_end(&l);
}

/* Packets for all blocks, at the root one for each kid, and one for none. */
static int64_t scratch(const sk_call *c)
{
    int64_t all = sk_packet_bytes(c->nranks, c->nranks * sk_riders_rooted(c).most);
    return sk_scratch_bytes(1, all + (SK_TREE_KIDS + 1) * SK_SCRATCH_STEP);
}

const sk_algo sk_gatherv_leaders = {
    .name = "leaders",
    .coll = SK_GATHERV,
    .about = "short blocks through a leader on each node, with their sizes, long ones direct; "
             "several nodes",
    .fits = sk_riders_rooted_fits,
    .scratch = scratch,
    .build = build,
    .claim = sk_riders_rooted_claim,
    .straight_above = sk_riders_rooted_longest,
    .rule = {{.when = SK_WHEN_NODES}},
};
