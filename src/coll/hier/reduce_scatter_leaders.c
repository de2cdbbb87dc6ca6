/* reduce_scatter_leaders.c: the ranks of a node reduce their vectors at their leader, the leaders do a
 * reduce-scatter of the blocks of whole nodes, and every rank takes its block from its leader.
 * cost      a reduce-scatter of M leaders, and a pass through the memory of a node for the vector and for its blocks
 * good for  several nodes with several ranks each: only leaders send messages between nodes
 * scratch   at leaders: a vector, another one where the ranks of a node do not follow each other, and that of the
 *           algorithms inside */
#include "coll/claim.h"
#include "coll/phase/hier.h"
#include "coll/phase/reduce.h"

typedef struct rs_job {
    sk_span sum;   /* at leaders: the vectors of the node, reduced; blocks by node */
    sk_span mine;  /* at leaders: the blocks of the node, in their slot or in scratch */
    int64_t elems; /* of the blocks of my node */
    int64_t at;    /* of these, before my block */
    int epoch;
} rs_job;

static int64_t count_of(const sk_call *c, int local)
{
    return sk_block_count(c, c->machine->local_ranks[local]);
}

static int64_t node_elems(const sk_call *c, int node)
{
    int64_t sum = 0;
    for (int i = c->machine->node_first[node]; i < c->machine->node_first[node + 1]; i++)
        sum += count_of(c, i);
    return sum;
}

/* The blocks of a node must fit into a slot. */
static bool fits(const sk_call *c)
{
    if (!sk_hier_reduction_fits(c))
        return false;
    for (int x = 0; x < c->machine->nnodes; x++)
        if (node_elems(c, x) > sk_hier_chunk_elems(c))
            return false;
    return true;
}

static int64_t scratch(const sk_call *c)
{
    return sk_vectors_scratch(
        c, 6, sk_call_elems(c)); /* three here, two in an algorithm inside, some rounding */
}

/* From the order of ranks to that of nodes. */
static sk_span sort_blocks(sk_hier *l, sk_span sum)
{
    const sk_call *c = l->c;
    if (sk_hier_in_order(c))
        return sum;
    sk_span sorted = sk_scratch_typed(l->s, sum.type, sk_call_elems(c));
    int64_t at = 0;
    for (int i = 0; i < c->nranks; i++) {
        int64_t n = count_of(c, i), first = sk_block_first(c, c->machine->local_ranks[i]);
        sk_copy(l->s, sk_elems_cut(c, sum, first, n), sk_elems_cut(c, sorted, at, n));
        at += n;
    }
    sk_fence(l->s);
    return sorted;
}

static void in(sk_hier *l, void *ctx, int i)
{
    (void)i;
    rs_job *x = ctx;
    int64_t n = sk_call_elems(l->c);
    int chunks = sk_hier_chunks(n, sk_hier_chunk_elems(l->c));
    for (int k = 0; k < chunks; k++) {
        int64_t first = sk_hier_chunk_first(n, chunks, k),
                more = sk_hier_chunk_first(n, chunks, k + 1) - first;
        sk_hier_node_reduce(l, first, more,
                            l->leader >= 0 ? sk_elems_cut(l->c, x->sum, first, more)
                                           : sk_send_elems(l->c, first, more));
    }
    sk_fence(l->s);
    if (l->leader >= 0)
        x->sum = sort_blocks(l, x->sum);
}

/* Where the leader gets the blocks of its node. */
static sk_span place_of(sk_hier *l, const rs_job *x)
{
    uint32_t type = l->c->send.type;
    if (l->nlocal == 1)
        return sk_recv_elems(l->c, 0, x->elems);
    return l->in_shm ? sk_slot_typed(l->c->types, type, x->epoch, 0, x->elems)
                     : sk_scratch_typed(l->s, type, x->elems);
}

static void inter(sk_hier *l, void *ctx, int i)
{
    (void)i;
    rs_job *x = ctx;
    const sk_call *c = l->c;
    if (l->in_shm)
        x->epoch = sk_epoch(l->s, sk_slot_bytes(&c->types[c->send.type], x->elems), false);
    if (l->leader < 0)
        return;
    int64_t *counts = sk_arena_get(l->arena, (size_t)l->m->nnodes * sizeof *counts);
    if (!counts) {
        sk_sched_fail(l->s, SK_NOMEM);
        return;
    }
    x->mine = place_of(l, x);
    bool even = true;
    for (int k = 0; k < l->m->nnodes; k++) {
        counts[k] = node_elems(c, k);
        even = even && counts[k] == counts[0];
    }
    sk_call call = sk_sub_call(c, even ? SK_REDUCE_SCATTER_BLOCK : SK_REDUCE_SCATTER, &l->peers);
    call.send = (sk_side){.count = sk_call_elems(c), .type = c->send.type};
    call.recv = even ? (sk_side){.count = counts[0], .type = c->send.type}
                     : (sk_side){.counts = counts, .type = c->send.type};
    sk_sub_start(&l->inter, l->s, &call, &l->peers, x->sum, x->mine);
}

static void scatter_by_messages(sk_hier *l, const rs_job *x, sk_span result)
{
    const sk_call *c = l->c;
    int leader = sk_hier_leader(l, l->node, 0), first = l->m->node_first[l->node];
    int64_t at = 0;
    if (l->leader < 0)
        sk_recv(l->s, result, sk_team_rank(&l->local_ranks, leader));
    for (int i = 0; l->leader >= 0 && i < l->nlocal; i++) {
        int64_t n = count_of(c, first + i);
        if (i != l->local_rank)
            sk_send(l->s, sk_elems_cut(c, x->mine, at, n), sk_team_rank(&l->local_ranks, i));
        at += n;
    }
}

static void out(sk_hier *l, void *ctx, int i)
{
    (void)i;
    const rs_job *x = ctx;
    const sk_call *c = l->c;
    int64_t n = sk_block_count(c, c->rank);
    sk_span result = sk_recv_elems(c, 0, n);
    if (l->nlocal == 1)
        return;
    if (l->leader >= 0)
        sk_copy(l->s, sk_elems_cut(c, x->mine, x->at, n), result);
    if (!l->in_shm) {
        scatter_by_messages(l, x, result);
    } else if (l->leader >= 0) {
        sk_post(l->s, x->epoch);
    } else {
        sk_span slot = sk_slot_typed(c->types, c->send.type, x->epoch, 0, x->elems);
        sk_take(l->s, sk_hier_leader_rank(l, l->node, 0), sk_elems_cut(c, slot, x->at, n), result);
    }
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_hier l;
    rs_job x = {0};
    if (sk_call_bytes(c) == 0 || !sk_hier_begin(&l, s, c, 1, sk_hier_reduces_in_shm(c)))
        return;
    x.elems = node_elems(c, l.node);
    for (int i = 0; i < l.local_rank; i++)
        x.at += count_of(c, l.m->node_first[l.node] + i);
    if (l.leader >= 0)
        x.sum = sk_scratch_typed(s, c->send.type, sk_call_elems(c));
    sk_hier_run(&l, &(sk_hier_phases){.in = in, .inter = inter, .out = out}, &x, 1);
    sk_hier_end(&l);
}

/* Leaders send on what is for other nodes. */
static void claim(const sk_cost_case *k, sk_cost *c)
{
    bool pow2 = (k->nodes & (k->nodes - 1)) == 0;
    int64_t lg = 0;
    while (1 << lg < k->nodes)
        lg++;
    sk_claim_off_node(k, c, 1, pow2 ? k->nodes * lg : SK_UNCLAIMED, (k->nodes - 1) * k->n);
    if (k->is_short)
        sk_claim_node(k, c, 2, 2 * (k->p - k->nodes));
}

#define LEADERS(ID)                                                                                \
    {                                                                                              \
        .name = "leaders", .coll = ID,                                                             \
        .about = "combine on every node, then among one leader per node; several nodes",           \
        .fits = fits, .scratch = scratch, .build = build, .claim = claim,                          \
        .rule = {{.when = SK_WHEN_NODES, .below = SK_SET_LEADERS_VECTOR}},                         \
    }

const sk_algo sk_reduce_scatter_leaders = LEADERS(SK_REDUCE_SCATTER);
const sk_algo sk_reduce_scatter_block_leaders = LEADERS(SK_REDUCE_SCATTER_BLOCK);
