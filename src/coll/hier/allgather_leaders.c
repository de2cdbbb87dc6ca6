/* allgather_leaders.c: the ranks of a node bring their blocks together, the leaders of the nodes
 * do an allgatherv in which the blocks of a node are one, and all ranks take the result;
 * allgather and allgatherv.
 * cost      an allgatherv of M leaders, and one pass through the memory of a node
 * good for  several nodes with several ranks each
 * shm       the common slot holds all blocks: local ranks write theirs there, their leader sends
 *           from there and receives to there
 * long      if not all blocks fit into the slot, a slice of every block at a time: a leader
 *           exchanges one chunk while its local ranks copy the last one out
 * leaders   k of them: each has the blocks of a group of local ranks
 * scratch   about n, where blocks are not in the order of nodes or cannot be cut; as much again
 *           in the algorithm between leaders
 *
 * The blocks are ordered by group: those of the local ranks of leader 0 of every node, then
 * those of leader 1, and so on. So what a leader contributes is contiguous, and so is what all
 * leaders with its index contribute. All blocks, or a chunk, which is a slice of every block,
 * are in a pool: the common slot of an epoch, or scratch of each rank. */
#include "coll/claim.h"
#include "coll/phase/hier.h"

typedef struct allgather_pool {
    sk_blocks row;
    int *group;             /* nleaders * nodes + 1: index of the first block of each group */
    int64_t *at;            /* p + 1: bytes before each slice of the current chunk */
    int64_t *counts, *offs; /* for calls among leaders or local ranks */
    int64_t slice;          /* most bytes of a block in a chunk */
    int chunks;
    int mine;        /* index of my block */
    int epoch[2];    /* of even and of odd chunks */
    sk_span own[2];  /* or scratch, likewise */
    sk_span source;  /* my block, packed if it cannot be cut otherwise */
    sk_span landing; /* where the slices are joined, if not in the user's blocks */
} allgather_pool;

static int64_t longest(const sk_call *c)
{
    int64_t most = 0;
    for (int r = 0; r < (c->recv.counts ? c->nranks : 1); r++)
        most = most < sk_recv_block(c, r).len ? sk_recv_block(c, r).len : most;
    return most;
}

static int64_t pool_slice(const sk_call *c)
{
    int64_t bytes = c->slot_bytes / c->nranks, most = longest(c);
    return bytes >= most ? most : bytes < SK_HIER_SLICE ? 0 : bytes;
}

static int pool_chunks(const sk_call *c)
{
    int64_t slice = pool_slice(c);
    return slice > 0 ? sk_hier_chunks(longest(c), slice) : 1;
}

/* Divide the local ranks of every node among its leaders, in order. */
static void make_groups(allgather_pool *x, const sk_hier *l, int *order)
{
    int n = 0, g = 0;
    for (int j = 0; j < l->nleaders; j++)
        for (int node = 0; node < l->m->nnodes; node++) {
            int first = sk_hier_leader(l, node, j);
            int end =
                j + 1 < l->nleaders ? sk_hier_leader(l, node, j + 1) : sk_hier_node_size(l, node);
            x->group[g++] = n;
            for (int i = first; i < end; i++, n++) {
                order[n] = l->m->local_ranks[l->m->node_first[node] + i];
                if (order[n] == l->c->rank)
                    x->mine = n;
            }
        }
    x->group[g] = n;
}

static bool pool_layout(allgather_pool *x, sk_hier *l)
{
    size_t p = (size_t)l->c->nranks, nodes = (size_t)l->m->nnodes;
    int *order = sk_arena_get(l->arena, p * sizeof *order);
    x->group = sk_arena_get(l->arena, ((size_t)l->nleaders * nodes + 1) * sizeof *x->group);
    x->at = sk_arena_get(l->arena, (p + 1) * sizeof *x->at);
    x->counts = sk_arena_get(l->arena, p * sizeof *x->counts);
    x->offs = sk_arena_get(l->arena, p * sizeof *x->offs);
    if (!order || !x->group || !x->at || !x->counts || !x->offs) {
        sk_sched_fail(l->s, SK_NOMEM);
        return false;
    }
    make_groups(x, l, order);
    x->row = (sk_blocks){.c = l->c, .side = SK_RECV, .order = order};
    x->chunks = pool_chunks(l->c);
    x->slice = x->chunks > 1 ? pool_slice(l->c) : longest(l->c);
    return true;
}

static void pool_set_chunk(allgather_pool *x, const sk_hier *l, int chunk)
{
    int64_t first = chunk * x->slice;
    for (int n = 0; n < l->c->nranks; n++) {
        int64_t len = sk_blocks_get(&x->row, n).len - first;
        x->at[n + 1] = x->at[n] + (len < 0 ? 0 : len < x->slice ? len : x->slice);
    }
}

static sk_span pool_all(const allgather_pool *x, const sk_hier *l, int chunk)
{
    int64_t len = x->at[l->c->nranks];
    if (l->in_shm)
        return sk_common(x->epoch[chunk % 2], 0, len);
    return sk_span_cut(l->c->types, x->own[chunk % 2], 0, len);
}

static sk_span pool_part(const allgather_pool *x, const sk_hier *l, int chunk, int n)
{
    return sk_span_cut(l->c->types, pool_all(x, l, chunk), x->at[n], x->at[n + 1] - x->at[n]);
}

static void pool_open(allgather_pool *x, sk_hier *l)
{
    const sk_call *c = l->c;
    x->source = sk_send_block(c, 0);
    if (x->chunks == 1) {
        if (!l->in_shm)
            x->own[0] = sk_hier_place(l->s, &x->row);
        return;
    }
    sk_span bytes = sk_contiguous_place(l->s, c, x->source);
    sk_copy(l->s, x->source, bytes);
    x->source = bytes;
    pool_set_chunk(x, l, 0); /* no chunk is longer than this one */
    for (int i = 0; i < 2 && !l->in_shm; i++)
        x->own[i] = sk_scratch(l->s, x->at[c->nranks]);
    if (!c->types[c->recv.type].contig)
        x->landing = sk_scratch(l->s, sk_blocks_bytes(&x->row, 0, c->nranks));
}

static void pool_close(allgather_pool *x, sk_hier *l)
{
    sk_fence(l->s);
    if (x->landing.len)
        sk_blocks_unpack(l->s, &x->row, 0, l->c->nranks, x->landing);
}

/* The groups of the leaders with index j, node by node, and the end of the last one. */
static const int *pool_groups(const allgather_pool *x, const sk_hier *l, int j)
{
    return &x->group[j * l->m->nnodes];
}

/* The local ranks of a group write and post. Their leader waits for them, and posts when the blocks
 * of the other nodes have come. */
static void pool_fill(sk_hier *l, void *ctx, int chunk)
{
    allgather_pool *x = ctx;
    int epoch = 0;
    sk_hier_fence(l);
    pool_set_chunk(x, l, chunk);
    if (l->in_shm)
        epoch = x->epoch[chunk % 2] = sk_epoch(l->s, x->at[l->c->nranks], true);
    sk_span to = pool_part(x, l, chunk, x->mine);
    if (x->chunks == 1)
        sk_copy(l->s, x->source, to);
    else if (to.len)
        sk_copy(l->s, sk_span_cut(l->c->types, x->source, chunk * x->slice, to.len), to);
    sk_hier_fence(l);
    if (!l->in_shm)
        return;
    if (l->leader < 0) {
        sk_post(l->s, epoch);
        return;
    }
    const int *group = pool_groups(x, l, l->leader) + l->node;
    if (group[1] - group[0] > 1)
        sk_await_local(l->s, epoch, l->local_rank + 1, l->local_rank + group[1] - group[0]);
}

/* Piece n of the current chunk, where the slices are joined. */
static sk_span landing_of(const allgather_pool *x, const sk_hier *l, int chunk, int n)
{
    int64_t len = x->at[n + 1] - x->at[n];
    sk_span block = sk_blocks_get(&x->row, n);
    if (x->landing.len)
        block = sk_span_cut(l->c->types, x->landing, sk_blocks_bytes(&x->row, 0, n), block.len);
    return len ? sk_span_cut(l->c->types, block, chunk * x->slice, len) : (sk_span){0};
}

static void pool_empty(sk_hier *l, void *ctx, int chunk)
{
    allgather_pool *x = ctx;
    int p = l->c->nranks;
    pool_set_chunk(x, l, chunk);
    if (l->in_shm && l->leader >= 0)
        sk_post(l->s, x->epoch[chunk % 2]);
    if (x->chunks == 1) {
        sk_blocks_take(l->s, &x->row, 0, p, l->c->rank, pool_all(x, l, chunk));
        return;
    }
    for (int n = 0; n < p; n++) {
        sk_span from = pool_part(x, l, chunk, n), to = landing_of(x, l, chunk, n);
        if (l->in_shm)
            sk_take(l->s, l->c->rank, from, to);
        else
            sk_copy(l->s, from, to);
    }
}

/* The leader of my group; *j gets its index among the leaders. */
static int leader_of(const sk_hier *l, int *j)
{
    *j = l->nleaders - 1;
    while (sk_hier_leader(l, l->node, *j) > l->local_rank)
        --*j;
    return sk_hier_leader(l, l->node, *j);
}

static void pool_send_up(sk_hier *l, void *ctx, int chunk)
{
    allgather_pool *x = ctx;
    int j, lead = leader_of(l, &j);
    const int *group = pool_groups(x, l, j) + l->node;
    sk_team team = {
        .n = group[1] - group[0], .me = l->local_rank - lead, .ranks = l->local_ranks.ranks + lead};
    bool equal = l->c->coll == SK_ALLGATHER;
    sk_call call = sk_sub_call(l->c, equal ? SK_GATHER : SK_GATHERV, &team);
    pool_set_chunk(x, l, chunk);
    for (int i = 0; i < team.n; i++) {
        x->offs[i] = x->at[group[0] + i] - x->at[group[0]];
        x->counts[i] = x->at[group[0] + i + 1] - x->at[group[0] + i];
    }
    call.in_place = l->leader >= 0;
    call.send = sk_sub_side(l->c, x->source);
    call.recv =
        equal ? (sk_side){.count = x->source.len} : (sk_side){.counts = x->counts, .offs = x->offs};
    if (l->leader >= 0)
        sk_copy(l->s, x->source, pool_part(x, l, chunk, x->mine));
    sk_span all = pool_all(x, l, chunk);
    int64_t first = x->at[group[0]];
    sk_hier_node_run(l, &call, &team, x->source,
                     sk_span_cut(l->c->types, all, first, x->at[group[1]] - first));
}

static void pool_send_down(sk_hier *l, void *ctx, int chunk)
{
    allgather_pool *x = ctx;
    pool_set_chunk(x, l, chunk);
    sk_span all = pool_all(x, l, chunk);
    for (int j = 0; j < l->nleaders; j++) {
        const int *group = pool_groups(x, l, j);
        int64_t first = x->at[group[0]], end = x->at[group[l->m->nnodes]];
        sk_span part = sk_span_cut(l->c->types, all, first, end - first);
        sk_parts one = sk_parts_even(l->c, part, 1, part.len);
        sk_hier_spread(l, &one, sk_hier_leader(l, l->node, j), SK_LOCAL_RANKS);
    }
    sk_fence(l->s);
    sk_blocks_unpack(l->s, &x->row, 0, l->c->nranks, all);
}

static void inter(sk_hier *l, void *ctx, int i)
{
    allgather_pool *x = ctx;
    if (l->leader < 0)
        return;
    const int *group = pool_groups(x, l, l->leader);
    pool_set_chunk(x, l, i);
    int64_t first = x->at[group[0]];
    for (int node = 0; node < l->m->nnodes; node++) {
        x->offs[node] = x->at[group[node]] - first;
        x->counts[node] = x->at[group[node + 1]] - x->at[group[node]];
    }
    sk_call call = sk_sub_call(l->c, SK_ALLGATHERV, &l->peers);
    call.in_place = true;
    call.recv = (sk_side){.counts = x->counts, .offs = x->offs};
    sk_span all = pool_all(x, l, i);
    all = sk_span_cut(l->c->types, all, first, x->at[group[l->m->nnodes]] - first);
    sk_sub_start(&l->inter, l->s, &call, &l->peers, all, all);
}

static void build(sk_sched *s, const sk_call *c)
{
    static const sk_hier_phases slices = {pool_fill, inter, pool_empty};
    static const sk_hier_phases messages = {pool_send_up, inter, pool_send_down};
    sk_hier l;
    allgather_pool x = {0};
    if (sk_call_bytes(c) == 0 || !sk_hier_begin(&l, s, c, sk_hier_nleaders(c), pool_slice(c) > 0))
        return;
    if (pool_layout(&x, &l)) {
        pool_open(&x, &l);
        sk_hier_run(&l, l.in_shm || x.chunks > 1 ? &slices : &messages, &x, x.chunks);
        pool_close(&x, &l);
    }
    sk_hier_end(&l);
}

static bool fits(const sk_call *c)
{
    return sk_hier_fits(c) && pool_chunks(c) < SK_HIER_CHUNKS;
}

/* The blocks as bytes, those of the algorithms inside, and two chunks. */
static int64_t scratch(const sk_call *c)
{
    int64_t all = sk_allgather_scratch(c);
    return sk_scratch_bytes(6, all);
}

/* Every node gets the blocks of every other node once. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t lg = 0, leaders = k->leaders;
    while (1 << lg < k->nodes)
        lg++;
    bool pow2 = k->nodes == (int64_t)1 << lg;
    sk_claim_off_node(k, c, leaders, pow2 ? leaders * k->nodes * lg : SK_UNCLAIMED,
                      (k->nodes - 1) * k->n);
    sk_claim_node(k, c, 1, k->p - leaders * k->nodes + leaders * (k->p - k->nodes));
}

/* Longer vectors do better round a ring of renamed ranks (rank-renaming, figures 3 to 5). */
#define LEADERS(COLL, ...)                                                                         \
    {                                                                                              \
        .name = "leaders", .coll = (COLL),                                                         \
        .about = "blocks together on every node, then among one leader per node; several nodes",   \
        .fits = fits, .scratch = scratch, .build = build, .claim = claim, .rule = {{__VA_ARGS__}}, \
    }

const sk_algo sk_allgather_leaders =
    LEADERS(SK_ALLGATHER, .when = SK_WHEN_NODES, .below = SK_SET_LEADERS_VECTOR,
            .measure = SK_MEASURE_BLOCKS);
const sk_algo sk_allgatherv_leaders =
    LEADERS(SK_ALLGATHERV, .when = SK_WHEN_NODES, .below = SK_SET_LEADERS_VECTOR);
