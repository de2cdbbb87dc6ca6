/* allgather_leaders.c: the ranks of a node bring their blocks together, the leaders of the nodes do
 * an allgatherv with the blocks of a node as one, and everybody takes what has come; allgather and
 * allgatherv.
 * cost   that of an allgatherv of M leaders, and one pass through the memory of a node
 * good for  several nodes with several ranks each
 * epochs  the common slot holds everything: local ranks write their block there, their leader sends from
 *        there and receives to there
 * long   where not all blocks have room in it, a piece of every block at a time: a leader exchanges
 *        one while its local ranks copy the last one out
 * k leaders  each with the blocks of a group of local ranks
 * scratch  where blocks do not lie in the order of nodes, or cannot be cut: about n; as much in the
 *        inner algorithm */
#include "coll/algo.h"
#include "coll/phase/pool.h"

static void net(sk_lead *l, void *ctx, int i)
{
    sk_pool *x = ctx;
    if (l->mine < 0)
        return;
    const int *group = sk_pool_groups(x, l, l->mine);
    sk_pool_turn_to(x, l, i);
    int64_t first = x->at[group[0]];
    for (int node = 0; node < l->m->nnodes; node++) {
        x->offs[node] = x->at[group[node]] - first;
        x->counts[node] = x->at[group[node + 1]] - x->at[group[node]];
    }
    sk_call call = sk_inner_call(l->c, SK_ALLGATHERV, &l->peers);
    call.in_place = true;
    call.recv = (sk_side){.counts = x->counts, .offs = x->offs};
    sk_span all = sk_pool_all(x, l, i);
    all = sk_span_cut(l->c->types, all, first, x->at[group[l->m->nnodes]] - first);
    sk_inner_start(&l->net, l->s, &call, &l->peers, all, all);
}

static void build(sk_sched *s, const sk_call *c)
{
    static const sk_lead_phases pieces = {sk_pool_fill, net, sk_pool_empty};
    static const sk_lead_phases messages = {sk_pool_send_up, net, sk_pool_send_down};
    sk_lead l;
    sk_pool x = {0};
    if (sk_call_bytes(c) == 0 || !sk_lead_begin(&l, s, c, sk_lead_count(c), sk_pool_piece(c) > 0))
        return;
    if (sk_pool_layout(&x, &l)) {
        sk_pool_open(&x, &l);
        sk_lead_run(&l, l.epochs || x.chunks > 1 ? &pieces : &messages, &x, x.chunks);
        sk_pool_close(&x, &l);
    }
    sk_lead_end(&l);
}

static bool fits(const sk_call *c)
{
    return sk_lead_fits(c) && sk_pool_chunks(c) < SK_LEAD_CHUNKS;
}

/* The blocks as bytes, those of the inner algorithms, and two chunks. */
static int64_t scratch(const sk_call *c)
{
    int64_t all = sk_allgather_scratch(c);
    return sk_room(6, all);
}

#define LEADERS(COLL)                                                                              \
    {                                                                                              \
        .name = "leaders", .coll = (COLL),                                                         \
        .about = "blocks together on every node, then among one leader per node; several nodes",   \
        .fits = fits, .scratch = scratch, .build = build,                                          \
    }

const sk_algo sk_allgather_leaders = LEADERS(SK_ALLGATHER);
const sk_algo sk_allgatherv_leaders = LEADERS(SK_ALLGATHERV);
