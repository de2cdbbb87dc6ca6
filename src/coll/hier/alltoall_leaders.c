/* alltoall_leaders.c: all blocks from the ranks of one node to those of another go in one
 * message between their leaders.
 * cost      (M-1) alpha + (M-1) q q b beta at a leader, for M nodes of q ranks; two passes
 *           through the memory of a node
 * good for  short blocks, several nodes with several ranks each: M (M-1) messages between nodes
 * shm       where the blocks of a node's ranks fit into a slot; otherwise messages to and from
 *           leaders
 * leaders   k of them: each has some of the other nodes; one, where local ranks send messages
 * scratch   where local ranks send messages: at leaders four times the blocks of a node's ranks
 *
 * Between two nodes, blocks are ordered by their source, then by their destination. */
#include "coll/claim.h"
#include "coll/phase/hier.h"

typedef struct alltoall_job {
    sk_blocks send, recv; /* blocks, node by node */
    int64_t len;          /* of a block */
    int out, back;        /* epochs */
    /* by messages, at leaders: */
    sk_span rows;     /* what local ranks send, then what they receive, by local rank */
    sk_span to, from; /* the same, by node */
    sk_side nodes;
} alltoall_job;

static bool in_shm(const sk_call *c)
{
    return sk_scratch_bytes(c->machine->max_per_node,
                            sk_scratch_bytes(c->nranks, sk_call_bytes(c))) <= c->slot_bytes;
}

/* Where the blocks between my node and another start, in either direction. */
static int64_t region(const sk_hier *l, const alltoall_job *x, int node)
{
    return (int64_t)l->nlocal * l->m->node_first[node] * x->len;
}

/* The leader that exchanges with this node. Its partner there has the same index. */
static int leader_for(const sk_hier *l, int node)
{
    return (l->node + node) % l->nleaders;
}

static bool make_node_blocks(sk_hier *l, alltoall_job *x)
{
    int nnodes = l->m->nnodes;
    size_t words = (size_t)nnodes * sizeof(int64_t);
    int64_t *counts = sk_arena_get(l->arena, words), *offs = sk_arena_get(l->arena, words);
    if (!counts || !offs) {
        sk_sched_fail(l->s, SK_NOMEM);
        return false;
    }
    for (int y = 0; y < nnodes; y++) {
        bool mine = leader_for(l, y) == l->leader && !(l->in_shm && y == l->node);
        counts[y] = mine ? (int64_t)l->nlocal * sk_hier_node_size(l, y) * x->len : 0;
        offs[y] = region(l, x, y);
    }
    x->nodes = (sk_side){.counts = counts, .offs = offs};
    return true;
}

static void inter(sk_hier *l, void *ctx, int i)
{
    (void)i;
    alltoall_job *x = ctx;
    int64_t bytes = (int64_t)l->nlocal * l->c->nranks * x->len;
    if (l->in_shm) {
        x->back = sk_epoch(l->s, bytes, false);
        x->to = sk_common(x->out, 0, bytes);
        x->from = sk_slot(x->back, 0, bytes);
    }
    if (l->leader < 0)
        return;
    sk_call call = sk_sub_call(l->c, SK_ALLTOALLV, &l->peers);
    call.send = call.recv = x->nodes;
    sk_sub_start(&l->inter, l->s, &call, &l->peers, x->to, x->from);
}

/* ---- through shared memory ---- */

static void share(sk_hier *l, void *ctx, int i)
{
    (void)i;
    alltoall_job *x = ctx;
    x->out = sk_epoch(l->s, (int64_t)l->nlocal * l->c->nranks * x->len, true);
    for (int y = 0; y < l->m->nnodes; y++) {
        const int *first = &l->m->node_first[y];
        int64_t bytes = (first[1] - first[0]) * x->len;
        sk_blocks_pack(l->s, &x->send, first[0], first[1],
                       sk_common(x->out, region(l, x, y) + l->local_rank * bytes, bytes));
    }
    sk_hier_fence(l);
    sk_post(l->s, x->out);
    if (l->leader >= 0)
        sk_await_local(l->s, x->out, 0, l->nlocal);
    for (int from = 0; from < l->nlocal; from++)
        sk_take(l->s, l->c->rank,
                sk_common(x->out,
                          region(l, x, l->node) + (from * l->nlocal + l->local_rank) * x->len,
                          x->len),
                sk_blocks_get(&x->recv, l->m->node_first[l->node] + from));
}

static void take(sk_hier *l, void *ctx, int i)
{
    (void)i;
    alltoall_job *x = ctx;
    if (l->leader >= 0)
        sk_post(l->s, x->back);
    for (int y = 0; y < l->m->nnodes; y++) {
        int j = leader_for(l, y), n = sk_hier_node_size(l, y);
        for (int from = 0; from < n && y != l->node; from++) {
            sk_span to = sk_blocks_get(&x->recv, l->m->node_first[y] + from);
            sk_span slot = sk_slot(
                x->back, region(l, x, y) + (from * l->nlocal + l->local_rank) * x->len, x->len);
            if (j == l->leader)
                sk_copy(l->s, slot, to);
            else
                sk_take(l->s, sk_hier_leader_rank(l, l->node, j), slot, to);
        }
    }
}

/* ---- by messages ---- */

static sk_span cut(const sk_hier *l, sk_span s, int64_t block, int64_t blocks, int64_t len)
{
    return sk_span_cut(l->c->types, s, block * len, blocks * len);
}

/* Reorder from by local rank to by node. */
static void sort_out(sk_hier *l, const alltoall_job *x)
{
    int p = l->c->nranks;
    for (int y = 0; y < l->m->nnodes; y++)
        for (int from = 0; from < l->nlocal; from++) {
            int64_t n = sk_hier_node_size(l, y), first = l->m->node_first[y];
            sk_copy(l->s, cut(l, x->rows, (int64_t)from * p + first, n, x->len),
                    cut(l, x->to, l->nlocal * first + from * n, n, x->len));
        }
}

/* And back: from by node to by local rank. */
static void sort_in(sk_hier *l, const alltoall_job *x)
{
    int p = l->c->nranks;
    for (int from = 0; from < p; from++)
        for (int me = 0; me < l->nlocal; me++)
            sk_copy(l->s, cut(l, x->from, (int64_t)from * l->nlocal + me, 1, x->len),
                    cut(l, x->rows, (int64_t)me * p + from, 1, x->len));
}

static void send_up(sk_hier *l, void *ctx, int i)
{
    (void)i;
    alltoall_job *x = ctx;
    int p = l->c->nranks;
    sk_span row = {0};
    if (l->leader < 0)
        row = sk_hier_place(l->s, &x->send);
    else
        row = cut(l, x->rows, (int64_t)l->local_rank * p, p, x->len);
    sk_blocks_pack(l->s, &x->send, 0, p, row);
    sk_hier_fence(l);
    sk_hier_node_gather(l, row, x->rows);
    sk_fence(l->s);
    if (l->leader >= 0)
        sort_out(l, x);
}

static void send_down(sk_hier *l, void *ctx, int i)
{
    (void)i;
    alltoall_job *x = ctx;
    int p = l->c->nranks;
    sk_span row = {0};
    if (l->leader >= 0) {
        sort_in(l, x);
        row = cut(l, x->rows, (int64_t)l->local_rank * p, p, x->len);
    } else {
        row = sk_hier_place(l->s, &x->recv);
    }
    sk_fence(l->s);
    sk_hier_node_scatter(l, x->rows, row);
    sk_fence(l->s);
    sk_blocks_unpack(l->s, &x->recv, 0, p, row);
}

static void allocate(sk_hier *l, alltoall_job *x)
{
    int64_t bytes = (int64_t)l->nlocal * l->c->nranks * x->len;
    if (l->in_shm || l->leader < 0)
        return;
    x->rows = sk_scratch(l->s, bytes);
    x->to = sk_scratch(l->s, bytes);
    x->from = sk_scratch(l->s, bytes);
}

static void build(sk_sched *s, const sk_call *c)
{
    static const sk_hier_phases epochs = {share, inter, take},
                                messages = {send_up, inter, send_down};
    sk_hier l;
    alltoall_job x = {.send = {.c = c, .side = SK_SEND, .order = c->machine->local_ranks},
                      .recv = {.c = c, .side = SK_RECV, .order = c->machine->local_ranks},
                      .len = sk_call_bytes(c)};
    bool shared = in_shm(c);
    if (x.len == 0 || !sk_hier_begin(&l, s, c, shared ? sk_hier_nleaders(c) : 1, shared))
        return;
    if (make_node_blocks(&l, &x)) {
        allocate(&l, &x);
        sk_hier_run(&l, l.in_shm ? &epochs : &messages, &x, 1);
    }
    sk_hier_end(&l);
}

/* At a leader three times the blocks of a node, and at most as much again in each algorithm
 * inside. At others all blocks of a rank, twice. */
static int64_t scratch(const sk_call *c)
{
    return sk_scratch_bytes(6, sk_scratch_bytes(c->machine->max_per_node,
                                                sk_scratch_bytes(c->nranks, sk_call_bytes(c))));
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    const sk_machine *m = k->call->machine;
    int64_t pairs = 0; /* of ranks on different nodes */
    for (int node = 0; node < m->nnodes; node++) {
        int64_t size = m->node_first[node + 1] - m->node_first[node];
        pairs += size * (k->p - size);
    }
    sk_claim_off_node(k, c, in_shm(k->call) ? k->leaders : 1, k->nodes * (k->nodes - 1),
                      pairs * k->b);
    sk_claim_node(k, c, 2, 2 * (k->p - k->nodes));
}

const sk_algo sk_alltoall_leaders = {
    .name = "leaders",
    .coll = SK_ALLTOALL,
    .about = "one message per pair of nodes, between their leaders; short blocks, several nodes",
    .fits = sk_hier_fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    /* Longer blocks cost no more when each goes in its own message. A message between leaders is as long as the blocks
     * of all pairs of ranks, so it soon is one that waits for its receiver, however dear short ones are. */
    .rule = {{.when = SK_WHEN_NODES, .below = SK_SET_LEADERS_BLOCK, .grows = 3}},
};
