/* node_fill.c: the bundles of the ranks of one node, from the neighbours of all of them.
 *
 * Carrier and entry of a pair of nodes follow from the blocks between the two alone: so both nodes
 * find the same, each from the neighbours of its own ranks. A pair takes its epoch by how far apart
 * its nodes are counted; epochs are dealt to a node's ranks one after the other, carriers from the
 * first rank upwards, entries from the last downwards, so that neither the many epochs of a large
 * machine nor the few of a small one pile up on some ranks. A rank that is the only source is the
 * carrier itself, the only destination the entry itself: that saves a hop. */
#include <stdlib.h>
#include <string.h>

#include "neighbor/node.h"

sk_status sk_local_ranks_init(sk_local_ranks *a, const sk_machine *m, int node)
{
    *a = (sk_local_ranks){.node = node, .n = m->node_first[node + 1] - m->node_first[node]};
    for (int way = 0; way < 2; way++)
        a->intra[way] = calloc((size_t)a->n, sizeof *a->intra[way]);
    if (a->intra[0] && a->intra[1])
        return SK_OK;
    sk_local_ranks_drop(a);
    return SK_NOMEM;
}

void sk_local_ranks_drop(sk_local_ranks *a)
{
    for (int way = 0; way < 2; way++) {
        for (int i = 0; i < a->n && a->intra[way]; i++)
            free(a->intra[way][i].rank);
        free(a->intra[way]);
        a->intra[way] = NULL;
    }
}

sk_status sk_local_ranks_set(sk_local_ranks *a, int local_rank, int way, const int *ranks, int n)
{
    sk_ranks *intra = &a->intra[way][local_rank];
    int *copy = malloc(((size_t)n + 1) * sizeof *copy);
    if (!copy)
        return SK_NOMEM;
    if (n)
        memcpy(copy, ranks, (size_t)n * sizeof *copy);
    free(intra->rank);
    *intra = (sk_ranks){n, copy};
    return SK_OK;
}

typedef struct fill {
    const sk_machine *m;
    const bool *idle;
    const sk_local_ranks *local_ranks;
    sk_pattern **patterns;
} fill;

typedef struct pair { /* all blocks from one node to another */
    int from, to;
    const sk_block *blocks;
    size_t n;
    int carrier, entry;
} pair;

/* Blocks of the local ranks' edges in one way, by the node at the other end: those of node i are
 * (*blocks)[(*first)[i] ...]. Both are the caller's to free, also after a failure. */
static sk_status by_node(const fill *f, int way, size_t **first, sk_block **blocks)
{
    const sk_machine *m = f->m;
    size_t *at = *first = calloc((size_t)m->nnodes + 2, sizeof *at);
    if (!at)
        return SK_NOMEM;
    for (int i = 0; i < f->local_ranks->n; i++)
        for (int k = 0; k < f->local_ranks->intra[way][i].n; k++)
            at[m->node[f->local_ranks->intra[way][i].rank[k]] + 2]++;
    for (int i = 0; i < m->nnodes; i++)
        at[i + 2] += at[i + 1];
    *blocks = malloc((at[m->nnodes + 1] + 1) * sizeof **blocks);
    if (!*blocks)
        return SK_NOMEM;
    /* One ahead: filling a node's share moves its start, which is the next one's place, along. */
    for (int i = 0; i < f->local_ranks->n; i++) {
        int local_rank = m->order[m->node_first[f->local_ranks->node] + i];
        for (int k = 0; k < f->local_ranks->intra[way][i].n; k++) {
            int other = f->local_ranks->intra[way][i].rank[k];
            (*blocks)[at[m->node[other] + 1]++] =
                way == SK_TARGETS ? (sk_block){local_rank, other} : (sk_block){other, local_rank};
        }
    }
    return SK_OK;
}

/* Epochs go round the ranks of a node that are not idle; -1: all are. */
static int deal(const fill *f, int node, int epoch, bool from_end)
{
    const sk_machine *m = f->m;
    const int *ranks = &m->order[m->node_first[node]];
    int n = m->node_first[node + 1] - m->node_first[node], busy = 0;
    for (int i = 0; i < n; i++)
        busy += !(f->idle && f->idle[ranks[i]]);
    if (busy == 0)
        return -1;
    int skip = from_end ? busy - 1 - epoch % busy : epoch % busy;
    for (int i = 0;; i++)
        if (!(f->idle && f->idle[ranks[i]]) && skip-- == 0)
            return ranks[i];
}

static void choose(const fill *f, pair *p)
{
    bool one_src = true, one_dst = true;
    for (size_t i = 1; i < p->n; i++) {
        one_src &= p->blocks[i].src == p->blocks[0].src;
        one_dst &= p->blocks[i].dst == p->blocks[0].dst;
    }
    int nodes = f->m->nnodes, epoch = (p->to - p->from + nodes) % nodes - 1;
    p->carrier = one_src ? p->blocks[0].src : deal(f, p->from, epoch, false);
    p->entry = one_dst ? p->blocks[0].dst : deal(f, p->to, epoch, true);
}

/* A block goes one hop between two local ranks, or between a local rank and a rank elsewhere. */
static void hop(const fill *f, int stage, int from, int to, sk_block block)
{
    const sk_machine *m = f->m;
    if (from == to)
        return;
    sk_pattern *p =
        m->node[from] == f->local_ranks->node ? f->patterns[sk_local_rank_of(m, from)] : NULL;
    sk_pattern *q =
        m->node[to] == f->local_ranks->node ? f->patterns[sk_local_rank_of(m, to)] : NULL;
    if (p)
        sk_pattern_send(p, stage, to, block.src, block.dst);
    if (q)
        sk_pattern_recv(q, stage, from, block.src, block.dst);
}

static sk_status fill_pair(const fill *f, pair *p)
{
    if (p->n == 0)
        return SK_OK;
    choose(f, p);
    if (p->carrier < 0 || p->entry < 0)
        return SK_BADARG; /* a rank with neighbours was called idle */
    for (size_t i = 0; i < p->n; i++) {
        sk_block block = p->blocks[i];
        if (p->from == f->local_ranks->node)
            hop(f, 0, block.src, p->carrier, block);
        hop(f, 1, p->carrier, p->entry, block);
        if (p->to == f->local_ranks->node)
            hop(f, 2, p->entry, block.dst, block);
    }
    return SK_OK;
}

static sk_status fill_way(const fill *f, int way)
{
    int mine = f->local_ranks->node;
    size_t *first = NULL;
    sk_block *blocks = NULL;
    sk_status st = by_node(f, way, &first, &blocks);
    for (int node = 0; node < f->m->nnodes && st == SK_OK; node++) {
        pair p = {.from = way == SK_TARGETS ? mine : node,
                  .to = way == SK_TARGETS ? node : mine,
                  .blocks = &blocks[first[node]],
                  .n = first[node + 1] - first[node]};
        if (node != mine)
            st = fill_pair(f, &p);
        else if (way == SK_TARGETS)
            for (size_t i = 0; i < p.n; i++)
                hop(f, 0, p.blocks[i].src, p.blocks[i].dst, p.blocks[i]);
    }
    free(first);
    free(blocks);
    return st;
}

sk_status sk_node_fill(const sk_machine *m, const bool *idle, const sk_local_ranks *a,
                       sk_pattern **patterns)
{
    fill f = {m, idle, a, patterns};
    sk_status st = fill_way(&f, SK_TARGETS);
    return st == SK_OK ? fill_way(&f, SK_SOURCES) : st;
}
