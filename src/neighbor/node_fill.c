/* node_fill.c: the hauls of the ranks of one node, from the neighbours of all of them.
 *
 * Carrier and entry of a pair of nodes follow from the parcels between the two alone: so both nodes
 * find the same, each from the neighbours of its own ranks. A pair takes its turn by how far apart
 * its nodes are counted; turns are dealt to a node's ranks one after the other, carriers from the
 * first rank upwards, entries from the last downwards, so that neither the many turns of a large
 * machine nor the few of a small one pile up on some ranks. A rank that is the only source is the
 * carrier itself, the only destination the entry itself: that saves a hop. */
#include <stdlib.h>
#include <string.h>

#include "neighbor/node.h"

sk_status sk_mates_init(sk_mates *a, const sk_machine *m, int node)
{
    *a = (sk_mates){.node = node, .n = m->node_first[node + 1] - m->node_first[node]};
    for (int way = 0; way < 2; way++)
        a->near[way] = calloc((size_t)a->n, sizeof *a->near[way]);
    if (a->near[0] && a->near[1])
        return SK_OK;
    sk_mates_drop(a);
    return SK_NOMEM;
}

void sk_mates_drop(sk_mates *a)
{
    for (int way = 0; way < 2; way++) {
        for (int i = 0; i < a->n && a->near[way]; i++)
            free(a->near[way][i].rank);
        free(a->near[way]);
        a->near[way] = NULL;
    }
}

sk_status sk_mates_set(sk_mates *a, int mate, int way, const int *ranks, int n)
{
    sk_ranks *near = &a->near[way][mate];
    int *copy = malloc(((size_t)n + 1) * sizeof *copy);
    if (!copy)
        return SK_NOMEM;
    if (n)
        memcpy(copy, ranks, (size_t)n * sizeof *copy);
    free(near->rank);
    *near = (sk_ranks){n, copy};
    return SK_OK;
}

typedef struct fill {
    const sk_machine *m;
    const bool *idle;
    const sk_mates *mates;
    sk_pattern **patterns;
} fill;

typedef struct pair { /* all parcels from one node to another */
    int from, to;
    const sk_parcel *parcels;
    size_t n;
    int carrier, entry;
} pair;

/* Parcels of the mates' edges in one way, by the node at the other end: those of node i are
 * (*parcels)[(*first)[i] ...]. Both are the caller's to free, also after a failure. */
static sk_status by_node(const fill *f, int way, size_t **first, sk_parcel **parcels)
{
    const sk_machine *m = f->m;
    size_t *at = *first = calloc((size_t)m->nnodes + 2, sizeof *at);
    if (!at)
        return SK_NOMEM;
    for (int i = 0; i < f->mates->n; i++)
        for (int k = 0; k < f->mates->near[way][i].n; k++)
            at[m->node[f->mates->near[way][i].rank[k]] + 2]++;
    for (int i = 0; i < m->nnodes; i++)
        at[i + 2] += at[i + 1];
    *parcels = malloc((at[m->nnodes + 1] + 1) * sizeof **parcels);
    if (!*parcels)
        return SK_NOMEM;
    /* One ahead: filling a node's share moves its start, which is the next one's place, along. */
    for (int i = 0; i < f->mates->n; i++) {
        int mate = m->order[m->node_first[f->mates->node] + i];
        for (int k = 0; k < f->mates->near[way][i].n; k++) {
            int other = f->mates->near[way][i].rank[k];
            (*parcels)[at[m->node[other] + 1]++] =
                way == SK_TARGETS ? (sk_parcel){mate, other} : (sk_parcel){other, mate};
        }
    }
    return SK_OK;
}

/* Turns go round the ranks of a node that are not idle; -1: all are. */
static int deal(const fill *f, int node, int turn, bool from_end)
{
    const sk_machine *m = f->m;
    const int *ranks = &m->order[m->node_first[node]];
    int n = m->node_first[node + 1] - m->node_first[node], busy = 0;
    for (int i = 0; i < n; i++)
        busy += !(f->idle && f->idle[ranks[i]]);
    if (busy == 0)
        return -1;
    int skip = from_end ? busy - 1 - turn % busy : turn % busy;
    for (int i = 0;; i++)
        if (!(f->idle && f->idle[ranks[i]]) && skip-- == 0)
            return ranks[i];
}

static void choose(const fill *f, pair *p)
{
    bool one_src = true, one_dst = true;
    for (size_t i = 1; i < p->n; i++) {
        one_src &= p->parcels[i].src == p->parcels[0].src;
        one_dst &= p->parcels[i].dst == p->parcels[0].dst;
    }
    int nodes = f->m->nnodes, turn = (p->to - p->from + nodes) % nodes - 1;
    p->carrier = one_src ? p->parcels[0].src : deal(f, p->from, turn, false);
    p->entry = one_dst ? p->parcels[0].dst : deal(f, p->to, turn, true);
}

/* A parcel goes one hop between two mates, or between a mate and a rank elsewhere. */
static void hop(const fill *f, int stage, int from, int to, sk_parcel parcel)
{
    const sk_machine *m = f->m;
    if (from == to)
        return;
    sk_pattern *p = m->node[from] == f->mates->node ? f->patterns[sk_mate_of(m, from)] : NULL;
    sk_pattern *q = m->node[to] == f->mates->node ? f->patterns[sk_mate_of(m, to)] : NULL;
    if (p)
        sk_pattern_send(p, stage, to, parcel.src, parcel.dst);
    if (q)
        sk_pattern_recv(q, stage, from, parcel.src, parcel.dst);
}

static sk_status fill_pair(const fill *f, pair *p)
{
    if (p->n == 0)
        return SK_OK;
    choose(f, p);
    if (p->carrier < 0 || p->entry < 0)
        return SK_BADARG; /* a rank with neighbours was called idle */
    for (size_t i = 0; i < p->n; i++) {
        sk_parcel parcel = p->parcels[i];
        if (p->from == f->mates->node)
            hop(f, 0, parcel.src, p->carrier, parcel);
        hop(f, 1, p->carrier, p->entry, parcel);
        if (p->to == f->mates->node)
            hop(f, 2, p->entry, parcel.dst, parcel);
    }
    return SK_OK;
}

static sk_status fill_way(const fill *f, int way)
{
    int mine = f->mates->node;
    size_t *first = NULL;
    sk_parcel *parcels = NULL;
    sk_status st = by_node(f, way, &first, &parcels);
    for (int node = 0; node < f->m->nnodes && st == SK_OK; node++) {
        pair p = {.from = way == SK_TARGETS ? mine : node,
                  .to = way == SK_TARGETS ? node : mine,
                  .parcels = &parcels[first[node]],
                  .n = first[node + 1] - first[node]};
        if (node != mine)
            st = fill_pair(f, &p);
        else if (way == SK_TARGETS)
            for (size_t i = 0; i < p.n; i++)
                hop(f, 0, p.parcels[i].src, p.parcels[i].dst, p.parcels[i]);
    }
    free(first);
    free(parcels);
    return st;
}

sk_status sk_node_fill(const sk_machine *m, const bool *idle, const sk_mates *a,
                       sk_pattern **patterns)
{
    fill f = {m, idle, a, patterns};
    sk_status st = fill_way(&f, SK_TARGETS);
    return st == SK_OK ? fill_way(&f, SK_SOURCES) : st;
}
