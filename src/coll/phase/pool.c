/* phase_pool.c: what stands where in a pool. */
#include "coll/phase/pool.h"

enum { LEAST_PIECE = 256 }; /* shorter pieces of longer blocks are not worth the epochs */

static int64_t longest(const sk_call *c)
{
    int64_t most = 0;
    for (int r = 0; r < (c->recv.counts ? c->nranks : 1); r++)
        most = most < sk_recv_block(c, r).len ? sk_recv_block(c, r).len : most;
    return most;
}

int64_t sk_pool_piece(const sk_call *c)
{
    int64_t room = c->room / c->nranks, most = longest(c);
    return room >= most ? most : room < LEAST_PIECE ? 0 : room;
}

int sk_pool_chunks(const sk_call *c)
{
    int64_t piece = sk_pool_piece(c);
    return piece > 0 ? sk_lead_chunks(longest(c), piece) : 1;
}

/* Deal the local ranks of every node to its leaders, in order. */
static void make_groups(sk_pool *x, const sk_lead *l, int *order)
{
    int n = 0, g = 0;
    for (int j = 0; j < l->k; j++)
        for (int node = 0; node < l->m->nnodes; node++) {
            int first = sk_lead_local_rank(l, node, j);
            int end = j + 1 < l->k ? sk_lead_local_rank(l, node, j + 1) : sk_lead_size(l, node);
            x->group[g++] = n;
            for (int i = first; i < end; i++, n++) {
                order[n] = l->m->local_ranks[l->m->node_first[node] + i];
                if (order[n] == l->c->rank)
                    x->mine = n;
            }
        }
    x->group[g] = n;
}

bool sk_pool_layout(sk_pool *x, sk_lead *l)
{
    size_t p = (size_t)l->c->nranks, nodes = (size_t)l->m->nnodes;
    int *order = sk_arena_get(l->arena, p * sizeof *order);
    x->group = sk_arena_get(l->arena, ((size_t)l->k * nodes + 1) * sizeof *x->group);
    x->at = sk_arena_get(l->arena, (p + 1) * sizeof *x->at);
    x->counts = sk_arena_get(l->arena, p * sizeof *x->counts);
    x->offs = sk_arena_get(l->arena, p * sizeof *x->offs);
    if (!order || !x->group || !x->at || !x->counts || !x->offs) {
        sk_sched_fail(l->s, SK_NOMEM);
        return false;
    }
    make_groups(x, l, order);
    x->row = (sk_row){.c = l->c, .side = SK_RECV, .order = order};
    x->chunks = sk_pool_chunks(l->c);
    x->piece = x->chunks > 1 ? sk_pool_piece(l->c) : longest(l->c);
    return true;
}

void sk_pool_turn_to(sk_pool *x, const sk_lead *l, int chunk)
{
    int64_t first = chunk * x->piece;
    for (int n = 0; n < l->c->nranks; n++) {
        int64_t len = sk_row_block(&x->row, n).len - first;
        x->at[n + 1] = x->at[n] + (len < 0 ? 0 : len < x->piece ? len : x->piece);
    }
}

sk_span sk_pool_all(const sk_pool *x, const sk_lead *l, int chunk)
{
    int64_t len = x->at[l->c->nranks];
    if (l->epochs)
        return sk_common(x->epoch[chunk % 2], 0, len);
    return sk_span_cut(l->c->types, x->own[chunk % 2], 0, len);
}

sk_span sk_pool_part(const sk_pool *x, const sk_lead *l, int chunk, int n)
{
    return sk_span_cut(l->c->types, sk_pool_all(x, l, chunk), x->at[n], x->at[n + 1] - x->at[n]);
}

void sk_pool_open(sk_pool *x, sk_lead *l)
{
    const sk_call *c = l->c;
    x->source = sk_send_block(c, 0);
    if (x->chunks == 1) {
        if (!l->epochs)
            x->own[0] = sk_lead_place(l->s, &x->row);
        return;
    }
    sk_span bytes = sk_bytes_place(l->s, c, x->source);
    sk_copy(l->s, x->source, bytes);
    x->source = bytes;
    sk_pool_turn_to(x, l, 0); /* no chunk is longer than this one */
    for (int i = 0; i < 2 && !l->epochs; i++)
        x->own[i] = sk_scratch(l->s, x->at[c->nranks]);
    if (!c->types[c->recv.type].contig)
        x->landing = sk_scratch(l->s, sk_row_bytes(&x->row, 0, c->nranks));
}

void sk_pool_close(sk_pool *x, sk_lead *l)
{
    sk_fence(l->s);
    if (x->landing.len)
        sk_row_out(l->s, &x->row, 0, l->c->nranks, x->landing);
}
