/* reduce_leaders.c: the ranks of a node reduce their vectors at their leader, and the leaders of
 * the nodes do a reduce to the root, which leads its own node.
 * cost      a reduce of M leaders, and one pass through the memory of a node
 * good for  several nodes with several ranks each: M - 1 messages between nodes where the
 *           leaders use a tree
 * long      chunks of 128 KiB: one is between the nodes while the next one is reduced
 * leaders   k of them: each has a part of the vector; the root collects the parts on its node
 * scratch   one vector, and that of the algorithms inside, for a chunk
 * paper     Graham and Shipman, MPI support for multi-core architectures, 2008 */
#include "coll/claim.h"
#include "coll/phase/hier.h"
#include "coll/phase/reduce.h"

typedef struct reduce_job {
    int64_t n;
    int chunks;
    sk_span sum; /* at leaders and at the root: where the vector is reduced */
} reduce_job;

static sk_parts parts_of(const sk_hier *l, const reduce_job *x, int i)
{
    int64_t first = sk_hier_chunk_first(x->n, x->chunks, i);
    sk_span sum =
        sk_elems_cut(l->c, x->sum, first, sk_hier_chunk_first(x->n, x->chunks, i + 1) - first);
    return sk_parts_even(l->c, sum, l->nleaders, l->c->types[sum.type].size);
}

static void in(sk_hier *l, void *ctx, int i)
{
    const reduce_job *x = ctx;
    int64_t first = sk_hier_chunk_first(x->n, x->chunks, i);
    int64_t n = sk_hier_chunk_first(x->n, x->chunks, i + 1) - first;
    sk_hier_node_reduce(l, first, n, sk_elems_cut(l->c, x->sum, first, n));
}

static void inter(sk_hier *l, void *ctx, int i)
{
    if (l->leader < 0)
        return;
    sk_parts parts = parts_of(l, ctx, i);
    sk_span mine = sk_parts_range(&parts, l->leader, l->leader + 1);
    sk_call call = sk_sub_reduction(l->c, SK_REDUCE, &l->peers, mine.len / parts.unit);
    call.root = l->m->node[l->c->root];
    call.in_place = l->node == call.root;
    sk_sub_start(&l->inter, l->s, &call, &l->peers, mine, mine);
}

static void out(sk_hier *l, void *ctx, int i)
{
    sk_parts parts = parts_of(l, ctx, i);
    if (l->node == l->m->node[l->c->root])
        sk_hier_spread(l, &parts, SK_LEADERS, l->m->local_rank[l->c->root]);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_hier l;
    reduce_job x = {.n = sk_call_elems(c), .sum = sk_recv_elems(c, 0, sk_call_elems(c))};
    if (sk_call_bytes(c) == 0 ||
        !sk_hier_begin(&l, s, c, sk_hier_nleaders(c), sk_hier_reduces_in_shm(c)))
        return;
    x.chunks = sk_hier_chunks(x.n, sk_hier_chunk_elems(c));
    if (l.leader >= 0 && c->rank != c->root)
        x.sum = sk_scratch_typed(s, c->send.type, x.n);
    sk_hier_run(&l, &(sk_hier_phases){.in = in, .inter = inter, .out = out}, &x, x.chunks);
    sk_hier_end(&l);
}

static int64_t scratch(const sk_call *c)
{
    int64_t inner = sk_hier_reduction_scratch(c), own = sk_vectors_scratch(c, 1, sk_call_elems(c));
    return own > INT64_MAX - inner ? INT64_MAX : own + inner;
}

/* With several leaders the root collects the parts of those that it is not. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    const sk_machine *m = k->call->machine;
    int64_t others = k->nodes - 1, leaders = k->leaders, collects = leaders;
    if (!k->is_short) {
        sk_hier_claim_chunks(k, c,
                             sk_hier_chunks(sk_call_elems(k->call), sk_hier_chunk_elems(k->call)));
        return;
    }
    for (int64_t j = 0; j < leaders; j++)
        collects -= m->local_rank[k->root] == j * k->root_node / leaders;
    sk_claim_off_node(k, c, leaders, leaders * others, others * k->n);
    sk_claim_node(k, c, leaders == 1 ? 1 : 2,
                  leaders * (k->p - k->nodes) + (leaders == 1 ? 0 : collects));
}

const sk_algo sk_reduce_leaders = {
    .name = "leaders",
    .coll = SK_REDUCE,
    .about = "combine on every node, then from one leader per node to the root; several nodes",
    .fits = sk_hier_reduction_fits,
    .scratch = scratch,
    .build = build,
    .claim = claim,
    /* Longer vectors do better round a ring of renamed ranks (rank-renaming, figures 3 to 5). */
    .rule = {{.when = SK_WHEN_NODES, .below = SK_SET_LEADERS_VECTOR}},
};
