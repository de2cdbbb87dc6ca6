/* gather_leaders.c: the ranks of a node bring their blocks to their leader, and the leaders of
 * the nodes send them on to the root, which leads its own node.
 * cost      a gather of M leaders with the blocks of a node, and a pass through its memory
 * good for  short blocks, several nodes with several ranks each: M - 1 messages between nodes
 * shm       where the blocks of a node fit into a slot; otherwise messages
 * scratch   all blocks at the root, if those of a node do not follow each other there; the
 *           blocks of the node at leaders, where they come by messages */
#include "coll/claim.h"
#include "coll/phase/hier.h"

typedef struct gather_job {
    sk_blocks row;  /* at the root: its blocks, by node */
    sk_span place;  /* and where they are received */
    sk_span packed; /* at other leaders: the blocks of the node */
    int64_t len;    /* of a block */
} gather_job;

static bool in_shm(const sk_call *c)
{
    return sk_scratch_bytes(c->machine->max_per_node, sk_call_bytes(c)) <= c->slot_bytes;
}

/* The blocks of my node among all. */
static sk_span region(const sk_hier *l, const gather_job *x)
{
    return sk_span_cut(l->c->types, x->place, l->m->node_first[l->node] * x->len,
                       l->nlocal * x->len);
}

static void bring_by_epoch(sk_hier *l, gather_job *x)
{
    int epoch = sk_epoch(l->s, l->nlocal * x->len, true), first = l->m->node_first[l->node];
    x->packed = sk_common(epoch, 0, l->nlocal * x->len);
    sk_copy(l->s, sk_send_block(l->c, 0), sk_common(epoch, l->local_rank * x->len, x->len));
    sk_fence(l->s);
    sk_post(l->s, epoch);
    if (l->c->rank == l->c->root)
        sk_blocks_take(l->s, &x->row, first, first + l->nlocal, l->c->rank, x->packed);
    else if (l->leader >= 0)
        sk_await_local(l->s, epoch, 0, l->nlocal);
}

static void bring_by_messages(sk_hier *l, gather_job *x)
{
    sk_span mine = sk_send_block(l->c, 0);
    if (l->c->rank == l->c->root)
        x->packed = region(l, x);
    else if (l->leader >= 0)
        x->packed = l->nlocal == 1 ? mine : sk_scratch(l->s, l->nlocal * x->len);
    if (l->leader >= 0 && l->nlocal > 1)
        sk_copy(l->s, mine, sk_span_cut(l->c->types, x->packed, l->local_rank * x->len, x->len));
    else if (l->c->rank == l->c->root)
        sk_copy(l->s, mine, x->packed);
    sk_hier_node_gather(l, mine, x->packed);
}

static void in(sk_hier *l, void *ctx, int i)
{
    (void)i;
    if (l->in_shm)
        bring_by_epoch(l, ctx);
    else
        bring_by_messages(l, ctx);
}

static void inter(sk_hier *l, void *ctx, int i)
{
    (void)i;
    gather_job *x = ctx;
    if (l->leader < 0)
        return;
    sk_side nodes = {0};
    bool even = sk_hier_node_blocks(l, x->len, &nodes);
    sk_call call = sk_sub_call(l->c, even ? SK_GATHER : SK_GATHERV, &l->peers);
    call.root = l->m->node[l->c->root];
    call.in_place = call.root == l->node;
    call.send = sk_sub_side(l->c, x->packed);
    call.recv = nodes;
    sk_sub_start(&l->inter, l->s, &call, &l->peers, x->packed, x->place);
}

static void out(sk_hier *l, void *ctx, int i)
{
    (void)i;
    gather_job *x = ctx;
    int p = l->c->nranks, first = l->m->node_first[l->node], after = first + l->nlocal;
    if (l->c->rank != l->c->root)
        return;
    if (l->in_shm) { /* my node's blocks are there already */
        sk_blocks_unpack(l->s, &x->row, 0, first,
                         sk_span_cut(l->c->types, x->place, 0, first * x->len));
        sk_blocks_unpack(l->s, &x->row, after, p,
                         sk_span_cut(l->c->types, x->place, after * x->len, (p - after) * x->len));
    } else {
        sk_blocks_unpack(l->s, &x->row, 0, p, x->place);
    }
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_hier l;
    gather_job x = {.row = {.c = c, .side = SK_RECV, .order = c->machine->local_ranks}};
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

const sk_algo sk_gather_leaders = {
    .name = "leaders",
    .coll = SK_GATHER,
    .about = "blocks to one leader per node, and on to the root; short blocks, several nodes",
    .fits = sk_hier_fits,
    .scratch = sk_hier_blocks_scratch,
    .build = build,
    .claim = claim,
    /* Longer blocks cost no more when each goes in its own message. */
    .rule = {{.when = SK_WHEN_NODES, .below = SK_SET_LEADERS_BLOCK}},
};
