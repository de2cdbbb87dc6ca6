/* node.c: blocks for the same node are sent in one combined message per pair of nodes.
 *
 *   stage 0  inside the node: to the carrier of the pair, and directly to neighbours on the same node
 *   stage 1  from the carrier to the entry of the pair, all blocks in one message
 *   stage 2  inside the node: from the entry to the destinations
 *
 * Carriers and entries are spread over the ranks of a node, so there is no leader to wait for.
 *
 * cost      at most one message per pair of nodes over the network: about (nodes - 1) / (ranks per node)
 *           sent and received by each rank, and up to 2 (ranks per node - 1) inside each direction; every
 *           block crosses the network once
 * rounds    3
 * scratch   the combined blocks
 * good for  short blocks, many neighbours, many ranks per node: when CPU per message is the limit
 * set-up    one message between any two ranks of a node, none over the network */
#include <stdlib.h>
#include <string.h>

#include "neighbor/cost/predict.h"
#include "neighbor/method.h"
#include "neighbor/rankset.h"
#include "topo/machine.h"

typedef struct rank_list {
    int n;
    int *rank;
} rank_list;

enum { TARGETS, SOURCES };

/* The neighbours of the ranks of a node. Local ranks are counted from 0, in the machine's order. */
typedef struct node_neighbors {
    int node, n;
    rank_list *list[2]; /* of each local rank: its targets, its sources */
} node_neighbors;

static inline int local_rank_of(const sk_machine *m, int rank)
{
    return m->position[rank] - m->node_first[m->node[rank]];
}

static void node_neighbors_free(node_neighbors *a)
{
    for (int direction = 0; direction < 2; direction++) {
        for (int i = 0; i < a->n && a->list[direction]; i++)
            free(a->list[direction][i].rank);
        free(a->list[direction]);
        a->list[direction] = NULL;
    }
}

/* No neighbours at first. After a failure there is nothing to free. */
static sk_status node_neighbors_init(node_neighbors *a, const sk_machine *m, int node)
{
    *a = (node_neighbors){.node = node, .n = m->node_first[node + 1] - m->node_first[node]};
    for (int direction = 0; direction < 2; direction++)
        a->list[direction] = calloc((size_t)a->n, sizeof *a->list[direction]);
    if (a->list[0] && a->list[1])
        return SK_OK;
    node_neighbors_free(a);
    return SK_NOMEM;
}

/* Copies the ranks. */
static sk_status node_neighbors_set(node_neighbors *a, int local_rank, int direction,
                                    const int *ranks, int n)
{
    rank_list *list = &a->list[direction][local_rank];
    int *copy = malloc(((size_t)n + 1) * sizeof *copy);
    if (!copy)
        return SK_NOMEM;
    if (n)
        memcpy(copy, ranks, (size_t)n * sizeof *copy);
    free(list->rank);
    *list = (rank_list){n, copy};
    return SK_OK;
}

/* ---- the bundles of the ranks of one node, from the neighbours of all of them ----
 *
 * Carrier and entry of a pair of nodes depend only on the blocks between the two. So both nodes compute
 * the same, each from the neighbours of its own ranks. The distance of a pair is the difference of the
 * nodes' numbers. Pairs are assigned by distance to the ranks of a node in turn: carriers from the first
 * rank upwards, entries from the last downwards, so that neither the many pairs of a large machine nor
 * the few of a small one pile up on some ranks. A rank that is the only source is the carrier itself, the
 * only destination the entry itself: that saves a hop. */

typedef struct node_fill {
    const sk_machine *m;
    const bool *idle;
    const node_neighbors *neighbors;
    sk_pattern **patterns;
} node_fill;

typedef struct node_pair { /* all blocks from one node to another */
    int from, to;
    const sk_block *blocks;
    size_t n;
    int carrier, entry;
} node_pair;

/* Blocks of the local ranks' edges in one direction, by the node at the other end: those of node i are
 * (*blocks)[(*first)[i] ...]. Both are the caller's to free, also after a failure. */
static sk_status by_node(const node_fill *f, int direction, size_t **first, sk_block **blocks)
{
    const sk_machine *m = f->m;
    size_t *at = *first = calloc((size_t)m->nnodes + 2, sizeof *at);
    if (!at)
        return SK_NOMEM;
    for (int i = 0; i < f->neighbors->n; i++)
        for (int k = 0; k < f->neighbors->list[direction][i].n; k++)
            at[m->node[f->neighbors->list[direction][i].rank[k]] + 2]++;
    for (int i = 0; i < m->nnodes; i++)
        at[i + 2] += at[i + 1];
    *blocks = malloc((at[m->nnodes + 1] + 1) * sizeof **blocks);
    if (!*blocks)
        return SK_NOMEM;
    /* The index is one ahead: filling the part of a node advances its start to the start of the next. */
    for (int i = 0; i < f->neighbors->n; i++) {
        int local_rank = m->rank_at[m->node_first[f->neighbors->node] + i];
        for (int k = 0; k < f->neighbors->list[direction][i].n; k++) {
            int other = f->neighbors->list[direction][i].rank[k];
            (*blocks)[at[m->node[other] + 1]++] = direction == TARGETS
                                                      ? (sk_block){local_rank, other}
                                                      : (sk_block){other, local_rank};
        }
    }
    return SK_OK;
}

/* The rank of a node, among those that are not idle, that serves pairs of this distance; -1: all are
 * idle. */
static int assign(const node_fill *f, int node, int distance, bool from_end)
{
    const sk_machine *m = f->m;
    const int *ranks = &m->rank_at[m->node_first[node]];
    int n = m->node_first[node + 1] - m->node_first[node], busy = 0;
    for (int i = 0; i < n; i++)
        busy += !(f->idle && f->idle[ranks[i]]);
    if (busy == 0)
        return -1;
    int skip = from_end ? busy - 1 - distance % busy : distance % busy;
    for (int i = 0;; i++)
        if (!(f->idle && f->idle[ranks[i]]) && skip-- == 0)
            return ranks[i];
}

static void choose(const node_fill *f, node_pair *p)
{
    bool one_src = true, one_dst = true;
    for (size_t i = 1; i < p->n; i++) {
        one_src &= p->blocks[i].src == p->blocks[0].src;
        one_dst &= p->blocks[i].dst == p->blocks[0].dst;
    }
    int nodes = f->m->nnodes, distance = (p->to - p->from + nodes) % nodes - 1;
    p->carrier = one_src ? p->blocks[0].src : assign(f, p->from, distance, false);
    p->entry = one_dst ? p->blocks[0].dst : assign(f, p->to, distance, true);
}

/* Adds one hop of a block to the patterns of its ends, as far as these are on this node. */
static void hop(const node_fill *f, int stage, int from, int to, sk_block block)
{
    const sk_machine *m = f->m;
    if (from == to)
        return;
    sk_pattern *p =
        m->node[from] == f->neighbors->node ? f->patterns[local_rank_of(m, from)] : NULL;
    sk_pattern *q = m->node[to] == f->neighbors->node ? f->patterns[local_rank_of(m, to)] : NULL;
    if (p)
        sk_pattern_send(p, stage, to, block.src, block.dst);
    if (q)
        sk_pattern_recv(q, stage, from, block.src, block.dst);
}

static sk_status fill_pair(const node_fill *f, node_pair *p)
{
    if (p->n == 0)
        return SK_OK;
    choose(f, p);
    if (p->carrier < 0 || p->entry < 0)
        return SK_BADARG; /* a rank with neighbours was called idle */
    for (size_t i = 0; i < p->n; i++) {
        sk_block block = p->blocks[i];
        if (p->from == f->neighbors->node)
            hop(f, 0, block.src, p->carrier, block);
        hop(f, 1, p->carrier, p->entry, block);
        if (p->to == f->neighbors->node)
            hop(f, 2, p->entry, block.dst, block);
    }
    return SK_OK;
}

static sk_status fill_way(const node_fill *f, int direction)
{
    int mine = f->neighbors->node;
    size_t *first = NULL;
    sk_block *blocks = NULL;
    sk_status st = by_node(f, direction, &first, &blocks);
    for (int node = 0; node < f->m->nnodes && st == SK_OK; node++) {
        node_pair p = {.from = direction == TARGETS ? mine : node,
                       .to = direction == TARGETS ? node : mine,
                       .blocks = &blocks[first[node]],
                       .n = first[node + 1] - first[node]};
        if (node != mine)
            st = fill_pair(f, &p);
        else if (direction == TARGETS)
            for (size_t i = 0; i < p.n; i++)
                hop(f, 0, p.blocks[i].src, p.blocks[i].dst, p.blocks[i]);
    }
    free(first);
    free(blocks);
    return st;
}

/* patterns[i] is that of local rank i; NULL: not wanted. Fills them, without freezing. */
static sk_status fill_patterns(const sk_machine *m, const bool *idle, const node_neighbors *a,
                               sk_pattern **patterns)
{
    node_fill f = {m, idle, a, patterns};
    sk_status st = fill_way(&f, TARGETS);
    return st == SK_OK ? fill_way(&f, SOURCES) : st;
}

/* ---- from the global graph ---- */

/* The neighbours of all ranks of a node. */
static sk_status read_node(const sk_global_graph *g, const sk_machine *m, node_neighbors *a,
                           int *scratch)
{
    sk_status st = SK_OK;
    for (int i = 0; i < a->n && st == SK_OK; i++) {
        int r = m->rank_at[m->node_first[a->node] + i];
        sk_global_graph_targets(g, r, scratch);
        st = node_neighbors_set(a, i, TARGETS, scratch, sk_global_graph_degree(g, r, false));
        if (st != SK_OK)
            break;
        sk_global_graph_sources(g, r, scratch);
        st = node_neighbors_set(a, i, SOURCES, scratch, sk_global_graph_degree(g, r, true));
    }
    return st;
}

static sk_status plan_node(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                           int node, int *scratch, sk_pattern **by_rank)
{
    node_neighbors a;
    sk_status st = node_neighbors_init(&a, m, node);
    if (st != SK_OK)
        return st;
    sk_pattern **wanted = malloc((size_t)a.n * sizeof(sk_pattern *));
    st = wanted ? read_node(g, m, &a, scratch) : SK_NOMEM;
    for (int i = 0; i < a.n && st == SK_OK; i++)
        wanted[i] = by_rank[m->rank_at[m->node_first[node] + i]];
    if (st == SK_OK)
        st = fill_patterns(m, o->idle, &a, wanted);
    for (int i = 0; i < a.n && st == SK_OK; i++)
        st = wanted[i] ? sk_pattern_freeze(wanted[i]) : SK_OK;
    free(wanted);
    node_neighbors_free(&a);
    return st;
}

static sk_status plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                      const int *ranks, int n, sk_pattern **out)
{
    size_t nranks = (size_t)m->nranks;
    int *scratch = malloc(nranks * sizeof *scratch);
    sk_pattern **by_rank = calloc(nranks, sizeof(sk_pattern *));
    bool *has = calloc((size_t)m->nnodes, sizeof *has); /* nodes with wanted ranks */
    sk_status st = scratch && by_rank && has ? SK_OK : SK_NOMEM;
    for (int i = 0; i < n && st == SK_OK; i++) {
        by_rank[ranks[i]] = sk_pattern_new(m->nranks, ranks[i]);
        st = by_rank[ranks[i]] ? SK_OK : SK_NOMEM;
        has[m->node[ranks[i]]] = true;
    }
    for (int node = 0; node < m->nnodes && st == SK_OK; node++)
        if (has[node])
            st = plan_node(g, m, o, node, scratch, by_rank);
    for (int i = 0; i < n && by_rank; i++) {
        if (st == SK_OK)
            out[i] = by_rank[ranks[i]];
        else
            sk_pattern_free(by_rank[ranks[i]]);
    }
    free(scratch);
    free(by_rank);
    free(has);
    return st;
}

/* ---- by messages ----
 *
 * The ranks of a node send each other their neighbours. Then each knows all blocks that leave and enter
 * the node, and so its own part. Each rank sends (ranks per node - 1) messages, none of them over the
 * network. */

typedef struct node_negotiator {
    sk_negotiator base;
    const sk_graph *g;
    const sk_machine *m;
    const bool *idle;
    node_neighbors neighbors;
    bool *heard; /* of each local rank */
    int missing;
    int *scratch;
} node_negotiator;

static sk_status make(node_negotiator *n)
{
    int rank = n->base.rank;
    sk_pattern **wanted = calloc((size_t)n->neighbors.n, sizeof(sk_pattern *));
    sk_pattern *p = sk_pattern_new(n->base.nranks, rank);
    sk_status st = wanted && p ? SK_OK : SK_NOMEM;
    if (st == SK_OK) {
        wanted[local_rank_of(n->m, rank)] = p;
        st = fill_patterns(n->m, n->idle, &n->neighbors, wanted);
    }
    if (st == SK_OK)
        st = sk_pattern_freeze(p);
    free(wanted);
    if (st != SK_OK) {
        sk_pattern_free(p);
        return st;
    }
    n->base.made[SK_METHOD_NODE] = p;
    n->base.done = true;
    return SK_OK;
}

static sk_status tell(const node_negotiator *n, sk_channel *ch)
{
    const sk_graph *g = n->g;
    size_t len =
        1 + sk_rankset_words(g->nranks, g->ntargets) + sk_rankset_words(g->nranks, g->nsources);
    int32_t *words = malloc(len * sizeof *words);
    if (!words)
        return SK_NOMEM;
    words[0] = n->base.phase;
    size_t at = 1;
    at += sk_rankset_put(words + at, g->nranks, g->targets, g->ntargets);
    sk_rankset_put(words + at, g->nranks, g->sources, g->nsources);
    sk_status st = SK_OK;
    const int *local_ranks = &n->m->rank_at[n->m->node_first[n->neighbors.node]];
    for (int i = 0; i < n->neighbors.n && st == SK_OK; i++)
        if (local_ranks[i] != g->rank)
            st = ch->send(ch, local_ranks[i], words, len);
    free(words);
    return st;
}

static sk_status start(sk_negotiator *p, sk_channel *ch)
{
    node_negotiator *n = (node_negotiator *)p;
    const sk_graph *g = n->g;
    int me = local_rank_of(n->m, g->rank);
    sk_status st = node_neighbors_set(&n->neighbors, me, TARGETS, g->targets, g->ntargets);
    if (st == SK_OK)
        st = node_neighbors_set(&n->neighbors, me, SOURCES, g->sources, g->nsources);
    n->heard[me] = true;
    if (st == SK_OK)
        st = tell(n, ch);
    return st == SK_OK && n->missing == 0 ? make(n) : st;
}

/* Reads one set of neighbours of a local rank. */
static sk_status read_set(node_negotiator *n, int local_rank, int direction, const int32_t **words,
                          size_t *left)
{
    int many = 0, from = n->m->rank_at[n->m->node_first[n->neighbors.node] + local_rank];
    size_t used = sk_rankset_get(*words, *left, n->base.nranks, n->scratch, &many);
    if (used == 0)
        return SK_WIRE;
    for (int i = 0; i < many; i++)
        if (n->scratch[i] == from)
            return SK_WIRE;
    *words += used;
    *left -= used;
    return node_neighbors_set(&n->neighbors, local_rank, direction, n->scratch, many);
}

static sk_status receive(sk_negotiator *p, sk_channel *ch, int from, const int32_t *words,
                         size_t len)
{
    (void)ch;
    node_negotiator *n = (node_negotiator *)p;
    if (n->m->node[from] != n->neighbors.node)
        return SK_WIRE;
    int local_rank = local_rank_of(n->m, from);
    if (n->heard[local_rank])
        return SK_WIRE;
    words++, len--;
    sk_status st = read_set(n, local_rank, TARGETS, &words, &len);
    if (st == SK_OK)
        st = read_set(n, local_rank, SOURCES, &words, &len);
    if (st == SK_OK && len != 0)
        st = SK_WIRE;
    n->heard[local_rank] = true;
    n->missing--;
    return st == SK_OK && n->missing == 0 ? make(n) : st;
}

static void negotiator_free(sk_negotiator *p)
{
    node_negotiator *n = (node_negotiator *)p;
    node_neighbors_free(&n->neighbors);
    free(n->heard);
    free(n->scratch);
    free(n);
}

static sk_negotiator *negotiator(const sk_graph *g, const sk_machine *m, const sk_pattern_opts *o)
{
    static const sk_negotiator_ops ops = {start, receive, negotiator_free};
    node_negotiator *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    if (node_neighbors_init(&n->neighbors, m, m->node[g->rank]) != SK_OK) {
        free(n);
        return NULL;
    }
    n->base = (sk_negotiator){.ops = &ops, .rank = g->rank, .nranks = g->nranks};
    n->g = g;
    n->m = m;
    n->idle = o->idle;
    n->missing = n->neighbors.n - 1;
    n->heard = calloc((size_t)n->neighbors.n, sizeof *n->heard);
    n->scratch = malloc((size_t)g->nranks * sizeof *n->scratch);
    if (n->heard && n->scratch)
        return &n->base;
    negotiator_free(&n->base);
    return NULL;
}

/* ---- prediction ---- */

/* Adds messages between ranks of a node, spread over its sockets as the ranks are. */
static void add_intra(sk_prediction *d, const sk_problem_shape *s, double messages,
                      double allgather, double alltoall)
{
    double intra = sk_predict_ratio(s->on_socket - 1, s->on_node - 1);
    if (s->on_node < 2)
        return;
    sk_prediction_add(d, SK_SOCKET, intra * messages, intra * allgather, intra * alltoall);
    sk_prediction_add(d, SK_NODE, (1 - intra) * messages, (1 - intra) * allgather,
                      (1 - intra) * alltoall);
}

/* Carriers and entries are assigned to the ranks of a node in turn: a busy rank serves as many pairs of
 * nodes as any, and as an entry rather than as a carrier, since an entry sends different blocks to each
 * rank of its node. With one node there is nothing to combine. */
static void predict(sk_prediction *d, const sk_problem_shape *s)
{
    if (s->nodes == 1) {
        sk_predict_direct(d, s);
        return;
    }
    double local_ranks = s->on_node - 1, others = s->nodes - 1, far = s->delta[SK_NET];
    double in = sk_predict_ratio(s->delta[SK_SOCKET] * (s->on_socket - 1) +
                                     s->delta[SK_NODE] * (s->on_node - s->on_socket),
                                 local_ranks);
    double wanted =
        sk_predict_any_of(s->on_node, far); /* a rank has targets on a given node, or sources */
    double helpers = sk_predict_ratio(others, s->on_node),
           each = helpers < 1 ? 1 : others / s->on_node;
    double asked = sk_predict_any_of(each, wanted); /* a rank has something for a given carrier */
    double pairs = (double)sk_predict_ceil(2 * others / s->on_node);
    double entries = (double)sk_predict_ceil(pairs / 2), carries = pairs - entries;

    double sent = local_ranks * (1 - (1 - in) * (1 - helpers * asked)), inner = local_ranks * in;
    double outer = (s->n - s->on_node) * far, passed = local_ranks * s->on_node * far;
    double helped = local_ranks * asked * ((entries > 0) + (carries > 0));
    add_intra(d, s, sent + inner + local_ranks * helpers * asked + helped,
              sent + inner + outer + entries * passed + (carries > 0) * local_ranks * asked,
              2 * inner + 2 * outer + pairs * passed);
    /* Where a node has fewer ranks, each serves more pairs, with fewer blocks in each. */
    sk_prediction_add(d, SK_NET,
                      (double)sk_predict_ceil(2 * others / s->least_on_node) *
                          sk_predict_any_of(s->on_node * s->least_on_node, far),
                      pairs * s->on_node * wanted, pairs * s->on_node * s->on_node * far);
    d->stages = others > 0 ? (local_ranks > 0 ? 3 : 2) : 1;
}

const sk_method sk_method_node = {
    .name = "node",
    .plan = plan,
    .negotiator = negotiator,
    .predict = predict,
};
