/* scatterv_leaders.c: short blocks go in packets, with their sizes, down a tree of leaders, one on each node, which hand
 * them on. The root leads its own node. Long blocks go straight from the root.
 * cost      ceil(lg M) alpha for M nodes, and alpha for each long block; a pass through the memory of a node
 * good for  short blocks, also very uneven ones, several nodes with several ranks each: M - 1 messages between nodes
 * shm       a cell of the leader's slot for each local rank
 * scratch   at leaders the blocks that go through them
 * order     from the root to a leader, the packet comes before its long block */
#include "coll/phase/riders.h"
#include "sched/packet.h"

typedef struct scatterv_job {
    sk_riders riders;
    sk_tree tree; /* of leaders */
    int packet;   /* at leaders: the blocks of the nodes of my subtree, by node and local rank */
    int epoch;
} scatterv_job;

static void send_kids(sk_hier *l, const scatterv_job *x)
{
    for (int i = x->tree.nkids - 1; i >= 0; i--) {
        const sk_edge *e = &x->tree.kid[i];
        sk_packet_send(l->s, x->packet, sk_riders_first_key(l, e->lo),
                       sk_riders_first_key(l, e->hi), e->rank);
    }
}

static void send_all(sk_hier *l, const scatterv_job *x)
{
    const sk_call *c = l->c;
    const sk_machine *m = l->m;
    for (int key = 0; key < c->nranks; key++) {
        int rank = sk_riders_rank(l, key);
        sk_span block = sk_send_block(c, rank);
        if (rank == c->rank || !sk_riders_take(&x->riders, block))
            continue;
        if (m->node[rank] == l->node)
            sk_copy_sized(l->s, block,
                          sk_riders_slot(&x->riders, x->epoch, m->local_rank[rank], block.len));
        else
            sk_put(l->s, x->packet, key, block);
    }
    sk_fence(l->s);
    if (l->in_shm)
        sk_post(l->s, x->epoch);
    send_kids(l, x);
    for (int rank = 0; rank < c->nranks; rank++)
        if (rank != c->rank && sk_riders_refuse(&x->riders, sk_send_block(c, rank)))
            sk_send(l->s, sk_send_block(c, rank), rank);
    sk_copy(l->s, sk_send_block(c, c->rank), sk_recv_block(c, 0));
}

static void lead(sk_hier *l, const scatterv_job *x)
{
    sk_span mine = sk_recv_block(l->c, 0);
    int first = sk_riders_first_key(l, x->tree.up.lo);
    sk_packet_recv(l->s, x->packet, x->tree.up.rank);
    sk_fence(l->s);
    send_kids(l, x);
    for (int i = 0; i < l->nlocal; i++)
        if (i != l->local_rank)
            sk_get_sized(l->s, x->packet, first + i,
                         sk_riders_slot(&x->riders, x->epoch, i, x->riders.most));
        else if (sk_riders_take(&x->riders, mine))
            sk_get(l->s, x->packet, first + i, mine);
    if (l->in_shm) { /* the others must not wait for my long block */
        sk_fence(l->s);
        sk_post(l->s, x->epoch);
    }
}

static void receive(sk_hier *l, const scatterv_job *x)
{
    sk_span mine = sk_recv_block(l->c, 0);
    if (sk_riders_refuse(&x->riders, mine))
        sk_recv(l->s, mine, l->c->root);
    else if (l->leader < 0 && sk_riders_take(&x->riders, mine))
        sk_take_sized(l->s, sk_hier_leader_rank(l, l->node, 0),
                      sk_riders_slot(&x->riders, x->epoch, l->local_rank, mine.len), mine);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_hier l;
    scatterv_job x = {.riders = sk_riders_rooted(c)};
    if (!sk_hier_begin(&l, s, c, 1, true))
        return;
    if (l.in_shm)
        x.epoch = sk_epoch(s, sk_riders_slot_bytes(&x.riders), false);
    if (l.leader >= 0) {
        x.tree = sk_riders_tree(&l);
        x.packet = sk_riders_packet(&l, &x.riders, &x.tree.up);
    }
    if (c->rank == c->root)
        send_all(&l, &x);
    else {
        if (l.leader >= 0)
            lead(&l, &x);
        receive(&l, &x);
    }
    sk_hier_end(&l);
}

/* A packet for all blocks. */
static int64_t scratch(const sk_call *c)
{
    return sk_scratch_bytes(1, sk_packet_bytes(c->nranks, c->nranks * sk_riders_rooted(c).most));
}

const sk_algo sk_scatterv_leaders = {
    .name = "leaders",
    .coll = SK_SCATTERV,
    .about = "short blocks through a leader on each node, with their sizes, long ones direct; "
             "several nodes",
    .fits = sk_riders_rooted_fits,
    .scratch = scratch,
    .build = build,
    .claim = sk_riders_rooted_claim,
    .straight_above = sk_riders_rooted_longest,
    .rule = {{.when = SK_WHEN_NODES}},
};
