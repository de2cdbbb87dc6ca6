/* scatter_leaders.c: the root, which leads its node, sends the blocks of every other node to the
 * leader there, which hands them to its local ranks.
 * cost      a scatter to M leaders with the blocks of a node, and a pass through its memory
 * good for  short blocks, several nodes with several ranks each: M - 1 messages between nodes
 * shm       where the blocks of a node fit into a slot; otherwise messages
 * scratch   all blocks at the root, if those of a node do not follow each other there; the
 *           blocks of the node at leaders, where they go on by messages */
#include "coll/claim.h"
#include "coll/phase/hier.h"

typedef struct scatter_job {
    sk_blocks row;  /* at the root: its blocks, by node */
    sk_span place;  /* and where they are sent from */
    sk_span packed; /* at leaders: the blocks of the node */
    int64_t len;    /* of a block */
    int epoch;
} scatter_job;

static bool in_shm(const sk_call *c)
{
    return sk_scratch_bytes(c->machine->max_per_node, sk_call_bytes(c)) <= c->slot_bytes;
}

static void in(sk_hier *l, void *ctx, int i)
{
    (void)i;
    scatter_job *x = ctx;
    if (l->c->rank == l->c->root)
        sk_blocks_pack(l->s, &x->row, 0, l->c->nranks, x->place);
}

/* The root has the blocks of its own node. It copies them to its slot while it sends the others. */
static void choose_place(sk_hier *l, scatter_job *x)
{
    int64_t bytes = l->nlocal * x->len;
    bool root = l->c->rank == l->c->root;
    sk_span slot = sk_slot(x->epoch, 0, bytes);
    if (root) {
        x->packed = sk_span_cut(l->c->types, x->place, l->m->node_first[l->node] * x->len, bytes);
        if (l->in_shm)
            sk_copy(l->s, x->packed, slot);
    } else if (l->in_shm) {
        x->packed = slot;
    } else {
        x->packed = l->nlocal == 1 ? sk_recv_block(l->c, 0) : sk_scratch(l->s, bytes);
    }
}

static void inter(sk_hier *l, void *ctx, int i)
{
    (void)i;
    scatter_job *x = ctx;
    if (l->in_shm)
        x->epoch = sk_epoch(l->s, l->nlocal * x->len, false);
    if (l->leader < 0)
        return;
    choose_place(l, x);
    sk_side nodes = {0};
    bool even = sk_hier_node_blocks(l, x->len, &nodes);
    sk_call call = sk_sub_call(l->c, even ? SK_SCATTER : SK_SCATTERV, &l->peers);
    call.root = l->m->node[l->c->root];
    call.in_place = call.root == l->node;
    call.send = nodes;
    call.recv = sk_sub_side(l->c, x->packed);
    sk_sub_start(&l->inter, l->s, &call, &l->peers, x->place, x->packed);
}

static void out(sk_hier *l, void *ctx, int i)
{
    (void)i;
    const scatter_job *x = ctx;
    sk_span mine = sk_recv_block(l->c, 0);
    if (l->c->rank == l->c->root)
        sk_copy(l->s, sk_send_block(l->c, l->c->rank), mine);
    else if (l->leader >= 0 && l->nlocal > 1)
        sk_copy(l->s, sk_span_cut(l->c->types, x->packed, l->local_rank * x->len, x->len), mine);
    if (!l->in_shm)
        sk_hier_node_scatter(l, x->packed, mine);
    else if (l->leader >= 0)
        sk_post(l->s, x->epoch);
    else
        sk_take(l->s, sk_hier_leader_rank(l, l->node, 0),
                sk_slot(x->epoch, l->local_rank * x->len, x->len), mine);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_hier l;
    scatter_job x = {.row = {.c = c, .side = SK_SEND, .order = c->machine->local_ranks}};
    x.len = sk_call_bytes(c);
    if (x.len == 0 || !sk_hier_begin(&l, s, c, 1, in_shm(c)))
        return;
    if (c->rank == c->root)
        x.place = sk_hier_place(s, &x.row);
    sk_hier_run(&l, &(sk_hier_phases){.in = in, .inter = inter, .out = out}, &x, 1);
    sk_hier_end(&l);
}

/* Along a tree of leaders; straight, where nodes are uneven, few, or blocks long. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    bool even = k->nodes * k->call->machine->max_per_node == k->p;
    bool tree = even && k->root_node * k->b < sk_linear_cutoff((int)k->nodes, NULL);
    int64_t blocks = tree ? sk_hier_claim_depths(k->nodes) * k->root_node : k->p - k->root_node;
    sk_claim_off_node(k, c, 1, k->nodes - 1, blocks * k->b);
    sk_claim_node(k, c, 1, k->p - k->nodes);
}

const sk_algo sk_scatter_leaders = {
    .name = "leaders",
    .coll = SK_SCATTER,
    .about =
        "blocks to one leader per node, and on to its local ranks; short blocks, several nodes",
    .fits = sk_hier_fits,
    .scratch = sk_hier_blocks_scratch,
    .build = build,
    .claim = claim,
    /* Longer blocks cost no more when each goes in its own message. */
    .rule = {{.when = SK_WHEN_NODES, .below = SK_SET_LEADERS_BLOCK}},
};
