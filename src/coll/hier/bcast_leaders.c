/* bcast_leaders.c: the root, which leads its node, sends the message to the leaders of the other
 * nodes, and every leader hands it to its local ranks.
 * cost      a bcast of M leaders, and one pass through the memory of a node
 * good for  several nodes with several ranks each: M - 1 messages between nodes where the
 *           leaders use a tree
 * long      chunks of 128 KiB: local ranks copy one while their leader receives the next one
 * leaders   k of them: each has a part of the message, which the root first gives to its whole
 *           node
 * scratch   n where the user's type is not contiguous and the message is cut; that of the
 *           algorithms inside, for a chunk */
#include "coll/claim.h"
#include "coll/phase/hier.h"

typedef struct bcast_job {
    sk_span message;
    int chunks;
    int epoch; /* of the chunk between the nodes */
} bcast_job;

static bool in_shm(const sk_call *c)
{
    return c->slot_bytes > 0;
}

static int64_t chunk_bytes(const sk_call *c)
{
    return in_shm(c) && c->slot_bytes < SK_HIER_CHUNK ? c->slot_bytes : SK_HIER_CHUNK;
}

static sk_span chunk(const sk_hier *l, const bcast_job *x, int i)
{
    int64_t len = x->message.len, first = sk_hier_chunk_first(len, x->chunks, i);
    return sk_span_cut(l->c->types, x->message, first,
                       sk_hier_chunk_first(len, x->chunks, i + 1) - first);
}

static sk_parts parts_of(const sk_hier *l, const bcast_job *x, int i)
{
    sk_span all = chunk(l, x, i);
    return sk_parts_even(l->c, all, l->nleaders, l->nleaders > 1 ? 1 : all.len);
}

/* Does my node have the message before any leader sends it? */
static bool has_it(const sk_hier *l)
{
    return l->nleaders > 1 && l->node == l->m->node[l->c->root];
}

static void in(sk_hier *l, void *ctx, int i)
{
    sk_span all = chunk(l, ctx, i);
    sk_parts one = sk_parts_even(l->c, all, 1, all.len);
    if (has_it(l))
        sk_hier_spread(l, &one, l->m->local_rank[l->c->root], SK_LOCAL_RANKS);
}

/* A leader that shares memory with its local ranks receives its part straight into its slot. */
static void inter(sk_hier *l, void *ctx, int i)
{
    bcast_job *x = ctx;
    sk_parts parts = parts_of(l, x, i);
    bool slots = l->in_shm && !has_it(l);
    if (slots)
        x->epoch = sk_epoch(l->s, sk_parts_range(&parts, 0, 1).len, false);
    if (l->leader < 0)
        return;
    sk_span mine = sk_parts_range(&parts, l->leader, l->leader + 1),
            slot = sk_slot(x->epoch, 0, mine.len);
    if (slots && l->c->rank == l->c->root)
        sk_copy(l->s, mine, slot);
    else if (slots)
        mine = slot;
    sk_call call = sk_sub_call(l->c, SK_BCAST, &l->peers);
    call.root = l->m->node[l->c->root];
    call.recv = sk_sub_side(l->c, mine);
    sk_sub_start(&l->inter, l->s, &call, &l->peers, mine, mine);
}

static void take_parts(sk_hier *l, const bcast_job *x, const sk_parts *parts)
{
    if (l->leader >= 0)
        sk_post(l->s, x->epoch);
    for (int j = 0; j < l->nleaders && l->c->rank != l->c->root; j++) {
        sk_span part = sk_parts_range(parts, j, j + 1), slot = sk_slot(x->epoch, 0, part.len);
        if (j == l->leader)
            sk_copy(l->s, slot, part);
        else
            sk_take(l->s, sk_hier_leader_rank(l, l->node, j), slot, part);
    }
}

static void out(sk_hier *l, void *ctx, int i)
{
    const bcast_job *x = ctx;
    sk_parts parts = parts_of(l, x, i);
    if (has_it(l))
        return;
    if (l->in_shm)
        take_parts(l, x, &parts);
    else
        sk_hier_spread(l, &parts, SK_LEADERS, SK_LOCAL_RANKS);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_hier l;
    bcast_job x = {.message = sk_recv_block(c, 0)};
    if (x.message.len == 0 || !sk_hier_begin(&l, s, c, sk_hier_nleaders(c), in_shm(c)))
        return;
    x.chunks = sk_hier_chunks(x.message.len, chunk_bytes(c));
    bool cut = x.chunks > 1 || l.nleaders > 1;
    if (cut)
        x.message = sk_message_in(s, c);
    sk_hier_run(&l, &(sk_hier_phases){.in = in, .inter = inter, .out = out}, &x, x.chunks);
    if (cut)
        sk_message_out(s, c, x.message);
    sk_hier_end(&l);
}

static bool fits(const sk_call *c)
{
    return sk_hier_fits(c) && sk_hier_chunks(sk_call_bytes(c), chunk_bytes(c)) < SK_HIER_CHUNKS;
}

static int64_t scratch(const sk_call *c)
{
    int64_t own = sk_message_scratch(c),
            inner = sk_scratch_bytes(2, sk_scratch_bytes(1, chunk_bytes(c)));
    return own > INT64_MAX - inner ? INT64_MAX : own + inner;
}

/* With several leaders the whole node of the root gets the message first. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t others = k->nodes - 1, leaders = k->leaders;
    if (!k->is_short) {
        sk_hier_claim_chunks(k, c, sk_claim_ceil(k->n, chunk_bytes(k->call)));
        return;
    }
    int64_t sends = k->p - k->nodes;
    if (leaders > 1)
        sends = k->root_node - 1 + leaders * (k->p - k->root_node - others);
    sk_claim_off_node(k, c, leaders, leaders * others, others * k->n);
    sk_claim_node(k, c, 1, sends);
}

const sk_algo sk_bcast_leaders = {
    .name = "leaders",
    .coll = SK_BCAST,
    .about = "from the root to one leader per node, and on to its local ranks; several nodes",
    .fits = fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    /* Longer vectors do better round a ring of renamed ranks (rank-renaming, figures 3 to 5). */
    .rule = {{.when = SK_WHEN_NODES, .below = SK_SET_LEADERS_VECTOR}},
};
