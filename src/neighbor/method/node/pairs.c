/* pairs.c: the blocks between two nodes, from the global graph. */
#include "neighbor/method/node/pairs.h"

#include <stdlib.h>

void sk_pair_hop(const sk_node_fill *f, int stage, int from, int to, sk_block block)
{
    const sk_machine *m = f->m;
    if (from == to)
        return;
    sk_pattern *p = m->node[from] == f->node ? f->patterns[m->local_rank[from]] : NULL;
    sk_pattern *q = m->node[to] == f->node ? f->patterns[m->local_rank[to]] : NULL;
    if (p)
        sk_pattern_send(p, stage, to, block.src, block.dst);
    if (q)
        sk_pattern_recv(q, stage, from, block.src, block.dst);
}

sk_status sk_pair_fill(const sk_node_fill *f, int from, int to, sk_block *blocks, size_t n,
                       sk_pair_filler fill)
{
    int nodes = f->m->nnodes;
    sk_node_pair p = {from, to, (to - from + nodes) % nodes - 1, blocks, n};
    return fill(f, &p);
}

/* ---- the blocks of one node, in one direction ---- */

typedef struct node_blocks {
    size_t *first;    /* nnodes + 2: those of the pair with node i are block[first[i] ...] */
    sk_block *blocks; /* may be NULL */
} node_blocks;

static void node_blocks_free(node_blocks *b)
{
    free(b->first);
    free(b->blocks);
}

static int neighbors_of(const sk_global_graph *g, int rank, bool in, int *out)
{
    if (in)
        sk_global_graph_sources(g, rank, out);
    else
        sk_global_graph_targets(g, rank, out);
    return sk_global_graph_degree(g, rank, in);
}

/* To be freed also after a failure. `ranks`: room for all ranks. */
static sk_status node_blocks_get(node_blocks *b, const sk_global_graph *g, const sk_machine *m,
                                 int node, bool in, int *ranks)
{
    int begin = m->node_first[node], end = m->node_first[node + 1];
    size_t *at = b->first = calloc((size_t)m->nnodes + 2, sizeof *at);
    if (!at)
        return SK_NOMEM;
    for (int i = begin; i < end; i++)
        for (int k = neighbors_of(g, m->local_ranks[i], in, ranks) - 1; k >= 0; k--)
            at[m->node[ranks[k]] + 2]++;
    for (int i = 0; i < m->nnodes; i++)
        at[i + 2] += at[i + 1];
    b->blocks = malloc((at[m->nnodes + 1] + 1) * sizeof *b->blocks);
    if (!b->blocks)
        return SK_NOMEM;
    /* The index is one ahead: filling the part of a node advances its start to the start of the next. */
    for (int i = begin; i < end; i++) {
        int rank = m->local_ranks[i], n = neighbors_of(g, rank, in, ranks);
        for (int k = 0; k < n; k++)
            b->blocks[at[m->node[ranks[k]] + 1]++] =
                in ? (sk_block){ranks[k], rank} : (sk_block){rank, ranks[k]};
    }
    return SK_OK;
}

/* ---- plans ---- */

typedef struct pairs_plan {
    const sk_global_graph *g;
    const sk_machine *m;
    const sk_pattern_opts *o;
    sk_pair_filler fill;
    int *scratch;
    sk_pattern **by_rank; /* NULL: not wanted */
} pairs_plan;

static sk_status plan_way(const pairs_plan *x, const sk_node_fill *f, bool in)
{
    node_blocks b = {0};
    sk_status st = node_blocks_get(&b, x->g, x->m, f->node, in, x->scratch);
    for (int node = 0; node < x->m->nnodes && st == SK_OK; node++) {
        sk_block *block = &b.blocks[b.first[node]];
        size_t n = b.first[node + 1] - b.first[node];
        if (node != f->node && n > 0)
            st = sk_pair_fill(f, in ? node : f->node, in ? f->node : node, block, n, x->fill);
        for (size_t i = 0; i < n && node == f->node && !in; i++)
            sk_pair_hop(f, 0, block[i].src, block[i].dst, block[i]);
    }
    node_blocks_free(&b);
    return st;
}

static sk_status plan_node(const pairs_plan *x, int node)
{
    const sk_machine *m = x->m;
    int n = m->node_first[node + 1] - m->node_first[node];
    const int *local = &m->local_ranks[m->node_first[node]];
    sk_pattern **wanted = malloc((size_t)n * sizeof(sk_pattern *));
    sk_status st = wanted ? SK_OK : SK_NOMEM;
    for (int i = 0; i < n && st == SK_OK; i++)
        wanted[i] = x->by_rank[local[i]];
    sk_node_fill f = {m, x->o->idle, node, wanted};
    if (st == SK_OK)
        st = plan_way(x, &f, false);
    if (st == SK_OK)
        st = plan_way(x, &f, true);
    for (int i = 0; i < n && st == SK_OK; i++)
        st = wanted[i] ? sk_pattern_freeze(wanted[i]) : SK_OK;
    free(wanted);
    return st;
}

sk_status sk_pairs_plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                        const int *ranks, int n, sk_pair_filler fill, sk_pattern **out)
{
    size_t nranks = (size_t)m->nranks;
    pairs_plan x = {
        g, m, o, fill, malloc(nranks * sizeof(int)), calloc(nranks, sizeof(sk_pattern *))};
    bool *has = calloc((size_t)m->nnodes, sizeof *has); /* nodes with wanted ranks */
    sk_status st = x.scratch && x.by_rank && has ? SK_OK : SK_NOMEM;
    for (int i = 0; i < n && st == SK_OK; i++) {
        x.by_rank[ranks[i]] = sk_pattern_new(m->nranks, ranks[i]);
        st = x.by_rank[ranks[i]] ? SK_OK : SK_NOMEM;
        has[m->node[ranks[i]]] = true;
    }
    for (int node = 0; node < m->nnodes && st == SK_OK; node++)
        if (has[node])
            st = plan_node(&x, node);
    for (int i = 0; i < n && x.by_rank; i++) {
        if (st == SK_OK)
            out[i] = x.by_rank[ranks[i]];
        else
            sk_pattern_free(x.by_rank[ranks[i]]);
    }
    free(x.scratch);
    free(x.by_rank);
    free(has);
    return st;
}
