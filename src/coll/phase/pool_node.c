/* phase_pool_node.c: local ranks fill a pool and take what has come. */
#include "coll/phase/pool.h"

/* The local ranks of a leader write, their leader waits for them; it posts when all is there. */
void sk_pool_fill(sk_lead *l, void *pool, int chunk)
{
    sk_pool *x = pool;
    int epoch = 0;
    sk_lead_fence(l);
    sk_pool_turn_to(x, l, chunk);
    if (l->epochs)
        epoch = x->epoch[chunk % 2] = sk_epoch(l->s, x->at[l->c->nranks], true);
    sk_span to = sk_pool_part(x, l, chunk, x->mine);
    if (x->chunks == 1)
        sk_copy(l->s, x->source, to);
    else if (to.len)
        sk_copy(l->s, sk_span_cut(l->c->types, x->source, chunk * x->piece, to.len), to);
    sk_lead_fence(l);
    if (!l->epochs)
        return;
    if (l->mine < 0) {
        sk_post(l->s, epoch);
        return;
    }
    const int *group = sk_pool_groups(x, l, l->mine) + l->node;
    if (group[1] - group[0] > 1)
        sk_await_local(l->s, epoch, l->me + 1, l->me + group[1] - group[0]);
}

/* Piece n of the chunk at hand, where the blocks are put together. */
static sk_span landing_of(const sk_pool *x, const sk_lead *l, int chunk, int n)
{
    int64_t len = x->at[n + 1] - x->at[n];
    sk_span block = sk_row_block(&x->row, n);
    if (x->landing.len)
        block = sk_span_cut(l->c->types, x->landing, sk_row_bytes(&x->row, 0, n), block.len);
    return len ? sk_span_cut(l->c->types, block, chunk * x->piece, len) : (sk_span){0};
}

void sk_pool_empty(sk_lead *l, void *pool, int chunk)
{
    sk_pool *x = pool;
    int p = l->c->nranks;
    sk_pool_turn_to(x, l, chunk);
    if (l->epochs && l->mine >= 0)
        sk_post(l->s, x->epoch[chunk % 2]);
    if (x->chunks == 1) {
        sk_row_take(l->s, &x->row, 0, p, l->c->rank, sk_pool_all(x, l, chunk));
        return;
    }
    for (int n = 0; n < p; n++) {
        sk_span from = sk_pool_part(x, l, chunk, n), to = landing_of(x, l, chunk, n);
        if (l->epochs)
            sk_take(l->s, l->c->rank, from, to);
        else
            sk_copy(l->s, from, to);
    }
}

/* The leader of my group, and its number. */
static int leader_of(const sk_lead *l, int *j)
{
    *j = l->k - 1;
    while (sk_lead_local_rank(l, l->node, *j) > l->me)
        --*j;
    return sk_lead_local_rank(l, l->node, *j);
}

void sk_pool_send_up(sk_lead *l, void *pool, int chunk)
{
    sk_pool *x = pool;
    int j, lead = leader_of(l, &j);
    const int *group = sk_pool_groups(x, l, j) + l->node;
    sk_team team = {
        .n = group[1] - group[0], .me = l->me - lead, .ranks = l->local_ranks.ranks + lead};
    bool equal = l->c->coll == SK_ALLGATHER;
    sk_call call = sk_inner_call(l->c, equal ? SK_GATHER : SK_GATHERV, &team);
    sk_pool_turn_to(x, l, chunk);
    for (int i = 0; i < team.n; i++) {
        x->offs[i] = x->at[group[0] + i] - x->at[group[0]];
        x->counts[i] = x->at[group[0] + i + 1] - x->at[group[0] + i];
    }
    call.in_place = l->mine >= 0;
    call.send = sk_inner_side(l->c, x->source);
    call.recv =
        equal ? (sk_side){.count = x->source.len} : (sk_side){.counts = x->counts, .offs = x->offs};
    if (l->mine >= 0)
        sk_copy(l->s, x->source, sk_pool_part(x, l, chunk, x->mine));
    sk_span all = sk_pool_all(x, l, chunk);
    int64_t first = x->at[group[0]];
    sk_node_run(l, &call, &team, x->source,
                sk_span_cut(l->c->types, all, first, x->at[group[1]] - first));
}

void sk_pool_send_down(sk_lead *l, void *pool, int chunk)
{
    sk_pool *x = pool;
    sk_pool_turn_to(x, l, chunk);
    sk_span all = sk_pool_all(x, l, chunk);
    for (int j = 0; j < l->k; j++) {
        const int *group = sk_pool_groups(x, l, j);
        int64_t first = x->at[group[0]], end = x->at[group[l->m->nnodes]];
        sk_span part = sk_span_cut(l->c->types, all, first, end - first);
        sk_parts one = sk_parts_even(l->c, part, 1, part.len);
        sk_node_spread(l, &one, sk_lead_local_rank(l, l->node, j), SK_LOCAL_RANKS);
    }
    sk_fence(l->s);
    sk_row_out(l->s, &x->row, 0, l->c->nranks, all);
}
