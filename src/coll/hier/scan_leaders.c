/* scan_leaders.c: on every node each rank combines the vectors up to its own, and the leader those of all; the
 * leaders do an exscan; every leader hands the prefix of the nodes before to its local ranks, which put it in
 * front; scan and exscan.
 * cost      an exscan of M leaders, and two passes through the memory of a node
 * good for  several nodes with several ranks each that follow each other
 * long      chunks of 128 KiB: one is between the nodes while the next one is combined
 * scratch   four chunks, and that of the algorithms inside, for a chunk */
#include "coll/claim.h"
#include "coll/phase/hier.h"
#include "coll/phase/reduce.h"

enum { BUFFERS = 2 }; /* one is between the nodes while the next one is filled */

typedef struct scan_job {
    int64_t n;
    int chunks;
    sk_span all[BUFFERS];    /* at leaders: the vectors of the node */
    sk_span before[BUFFERS]; /* but for the first node: those of the nodes before */
} scan_job;

static int64_t first_of(const scan_job *x, int i)
{
    return sk_hier_chunk_first(x->n, x->chunks, i);
}

static sk_span buffer(const sk_hier *l, const scan_job *x, const sk_span *buffers, int i)
{
    return sk_elems_cut(l->c, buffers[i % BUFFERS], 0, first_of(x, i + 1) - first_of(x, i));
}

static sk_span result_of(const sk_hier *l, const scan_job *x, int i)
{
    return sk_recv_elems(l->c, first_of(x, i), first_of(x, i + 1) - first_of(x, i));
}

/* My result as far as my node goes: of the local ranks before `end`. */
static void combine(const sk_hier *l, int end, sk_span slot, sk_span own, sk_span to)
{
    if (end == 1 && l->local_rank == 0)
        sk_copy(l->s, own, to);
    else if (end == 1)
        sk_take(l->s, sk_team_rank(&l->local_ranks, 0), slot, to);
    else if (end > 1)
        sk_fold_local(l->s, 0, end, slot, to);
}

static void combine_in_slots(sk_hier *l, const scan_job *x, int i)
{
    const sk_call *c = l->c;
    int64_t n = first_of(x, i + 1) - first_of(x, i);
    sk_span own = sk_send_elems(c, first_of(x, i), n);
    int epoch = sk_epoch(l->s, sk_slot_bytes(&c->types[own.type], n), false);
    sk_span slot = sk_slot_typed(c->types, own.type, epoch, 0, n);
    sk_copy(l->s, own, slot);
    sk_hier_fence(l);
    sk_post(l->s, epoch);
    if (l->leader >= 0)
        sk_fold_local(l->s, 0, l->nlocal, slot, buffer(l, x, x->all, i));
    combine(l, l->local_rank + (c->coll == SK_SCAN), slot, own, result_of(l, x, i));
}

/* By messages, or of a rank that is alone on its node. The sum of all comes first: in place the other result
 * replaces the operand. */
static void combine_by_messages(sk_hier *l, const scan_job *x, int i)
{
    const sk_call *c = l->c;
    int64_t first = first_of(x, i), n = first_of(x, i + 1) - first;
    sk_span own = sk_send_elems(c, first, n), to = result_of(l, x, i);
    sk_hier_node_reduce(l, first, n, l->leader >= 0 ? buffer(l, x, x->all, i) : own);
    sk_hier_fence(l);
    sk_call call = sk_sub_reduction(c, c->coll, &l->local_ranks, n);
    call.in_place = own.buf == to.buf && own.off == to.off;
    if (l->nlocal > 1)
        sk_hier_node_run(l, &call, &l->local_ranks, own, to);
    else if (c->coll == SK_SCAN)
        sk_copy(l->s, own, to);
}

static void in(sk_hier *l, void *ctx, int i)
{
    (l->in_shm ? combine_in_slots : combine_by_messages)(l, ctx, i);
}

static void inter(sk_hier *l, void *ctx, int i)
{
    const scan_job *x = ctx;
    if (l->leader < 0)
        return;
    sk_call call =
        sk_sub_reduction(l->c, SK_EXSCAN, &l->peers, first_of(x, i + 1) - first_of(x, i));
    sk_sub_start(&l->inter, l->s, &call, &l->peers, buffer(l, x, x->all, i),
                 buffer(l, x, x->before, i));
}

static void out(sk_hier *l, void *ctx, int i)
{
    const scan_job *x = ctx;
    if (l->node == 0)
        return;
    sk_span before = buffer(l, x, x->before, i), to = result_of(l, x, i);
    sk_parts whole = sk_parts_even(l->c, before, 1, l->c->types[before.type].size);
    sk_hier_spread(l, &whole, SK_LEADERS, SK_LOCAL_RANKS);
    sk_hier_fence(l);
    if (l->local_rank == 0 && l->c->coll == SK_EXSCAN)
        sk_copy(l->s, before, to);
    else
        sk_reduce(l->s, before, to);
}

static void build(sk_sched *s, const sk_call *c)
{
    sk_hier l;
    scan_job x = {.n = sk_call_elems(c)};
    if (sk_call_bytes(c) == 0 || !sk_hier_begin(&l, s, c, 1, sk_hier_reduces_in_shm(c)))
        return;
    x.chunks = sk_hier_chunks(x.n, sk_hier_chunk_elems(c));
    for (int i = 0; i < BUFFERS && i < x.chunks; i++) {
        int64_t n = first_of(&x, 1);
        if (l.leader >= 0)
            x.all[i] = sk_scratch_typed(s, c->send.type, n);
        x.before[i] = sk_scratch_typed(s, c->send.type, n);
    }
    sk_hier_run(&l, &(sk_hier_phases){.in = in, .inter = inter, .out = out}, &x, x.chunks);
    sk_hier_end(&l);
}

static bool fits(const sk_call *c)
{
    return sk_hier_reduction_fits(c) && sk_hier_in_order(c);
}

static int64_t scratch(const sk_call *c)
{
    int64_t n = sk_call_elems(c), most = sk_hier_chunk_elems(c),
            inner = sk_hier_reduction_scratch(c),
            own = sk_vectors_scratch(c, 2 * BUFFERS, n < most ? n : most);
    return own > INT64_MAX - inner ? INT64_MAX : own + inner;
}

static void claim(const sk_cost_case *k, sk_cost *c)
{
    c->max_senders = k->nodes;
    if (k->is_short)
        c->max_epochs = k->call->slot_bytes > 0 ? 2 : 0;
}

#define LEADERS(COLL)                                                                              \
    {                                                                                              \
        .name = "leaders", .coll = (COLL),                                                         \
        .about = "combine on every node, then one leader per node with the others; several nodes", \
        .fits = fits, .scratch = scratch, .build = build, .claim = claim,                          \
        .rule = {{.when = SK_WHEN_NODES, .below = SK_SET_LEADERS_VECTOR}},                         \
    }

const sk_algo sk_scan_leaders = LEADERS(SK_SCAN);
const sk_algo sk_exscan_leaders = LEADERS(SK_EXSCAN);
