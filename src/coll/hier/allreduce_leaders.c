/* allreduce_leaders.c: the ranks of a node reduce their vectors at their leader, the leaders of
 * the nodes do an allreduce, and every leader hands the result to its local ranks.
 * cost      an allreduce of M leaders, and two passes through the memory of a node
 * good for  several nodes with several ranks each: only leaders send messages between nodes, as
 *           many as the algorithm among M ranks sends
 * long      chunks of 128 KiB: one is between the nodes while the next one is reduced
 * leaders   k of them: each has a part of the vector
 * scratch   that of the algorithms inside, for a chunk
 * paper     Graham and Shipman, MPI support for multi-core architectures, 2008 */
#include "coll/claim.h"
#include "coll/phase/hier.h"
#include "coll/phase/reduce.h"

typedef struct allreduce_job {
    int64_t n;
    int chunks;
} allreduce_job;

static sk_span result_of(const sk_hier *l, const allreduce_job *x, int i)
{
    int64_t first = sk_hier_chunk_first(x->n, x->chunks, i);
    return sk_recv_elems(l->c, first, sk_hier_chunk_first(x->n, x->chunks, i + 1) - first);
}

static sk_parts parts_of(const sk_hier *l, const allreduce_job *x, int i)
{
    sk_span result = result_of(l, x, i);
    return sk_parts_even(l->c, result, l->nleaders, l->c->types[result.type].size);
}

static void in(sk_hier *l, void *ctx, int i)
{
    const allreduce_job *x = ctx;
    int64_t first = sk_hier_chunk_first(x->n, x->chunks, i);
    sk_hier_node_reduce(l, first, sk_hier_chunk_first(x->n, x->chunks, i + 1) - first,
                        result_of(l, x, i));
}

static void inter(sk_hier *l, void *ctx, int i)
{
    if (l->leader < 0)
        return;
    sk_parts parts = parts_of(l, ctx, i);
    sk_span mine = sk_parts_range(&parts, l->leader, l->leader + 1);
    sk_call call = sk_sub_reduction(l->c, SK_ALLREDUCE, &l->peers, mine.len / parts.unit);
    call.in_place = true;
    sk_sub_start(&l->inter, l->s, &call, &l->peers, mine, mine);
}

static void out(sk_hier *l, void *ctx, int i)
{
    sk_parts parts = parts_of(l, ctx, i);
    sk_hier_spread(l, &parts, SK_LEADERS, SK_LOCAL_RANKS);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_hier l;
    allreduce_job x = {.n = sk_call_elems(c)};
    if (sk_call_bytes(c) == 0 ||
        !sk_hier_begin(&l, s, c, sk_hier_nleaders(c), sk_hier_reduces_in_shm(c)))
        return;
    x.chunks = sk_hier_chunks(x.n, sk_hier_chunk_elems(c));
    sk_hier_run(&l, &(sk_hier_phases){.in = in, .inter = inter, .out = out}, &x, x.chunks);
    sk_hier_end(&l);
}

/* Short: doubling among the largest power of two of leaders. Each of the others hands its vector
 * over and gets the result. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    int64_t q = 1, lg = 0, leaders = k->leaders;
    for (; 2 * q <= k->nodes; q *= 2)
        lg++;
    int64_t sends = q * lg + 2 * (k->nodes - q);
    sk_claim_off_node(k, c, leaders, leaders * sends, sends * k->n);
    sk_claim_node(k, c, 2, 2 * leaders * (k->p - k->nodes));
}

const sk_algo sk_allreduce_leaders = {
    .name = "leaders",
    .coll = SK_ALLREDUCE,
    .about = "combine on every node, then among one leader per node; several nodes",
    .fits = sk_hier_reduction_fits,
    .scratch = sk_hier_reduction_scratch,
    .build = build,
    .claim = claim,
    /* Longer vectors do better round a ring of renamed ranks (rank-renaming, figures 3 to 5). */
    .rule = {{.when = SK_WHEN_NODES, .below = SK_SET_LEADERS_VECTOR}},
};
