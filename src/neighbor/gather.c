/* gather.c: the accelerated set-up, for graphs that fit into memory once per node.
 *
 * The ranks of a node send their targets to the first of them, the leader. Leaders exchange what they have
 * in rounds of doubling distance (Bruck), so that each then has the global graph. A leader plans for its
 * node and sends out the patterns.
 *
 * messages  2 (ranks - nodes) + nodes ceil(log2 nodes), however many methods are made
 * good for  all graphs that fit; negotiation takes many times the messages */
#include "neighbor/gather.h"

#include <stdlib.h>
#include <string.h>

#include "neighbor/rankset.h"

/* Phases: local ranks go from TARGETS to PATTERNS, leaders from TARGETS to ROUND, ROUND + 1, ... */
enum { TARGETS, PATTERNS, ROUND };

typedef struct gather_words {
    int32_t *words;
    size_t n;
} gather_words;

typedef struct gather_negotiator {
    sk_negotiator base;
    const sk_graph *g;
    const sk_machine *m;
    sk_pattern_opts opts;
    unsigned methods;
    int64_t edges;

    /* Leaders only. */
    int missing;               /* local ranks not heard from */
    gather_words *local_ranks; /* their targets, as rank sets */
    sk_global_graph *graph;
    int *ranks;         /* scratch: one set */
    int32_t *known;     /* a word for the phase, then the sets of this node and of those after it */
    size_t used, cap;   /* words in it, and its capacity */
    size_t *ends;       /* words up to the end of the i-th node in it */
    int nknown;         /* nodes in it */
    sk_pattern **plans; /* [method][local rank] */
} gather_negotiator;

static int node_size(const gather_negotiator *p)
{
    int node = p->m->node[p->base.rank];
    return p->m->node_first[node + 1] - p->m->node_first[node];
}

/* Makes this rank a leader. */
static sk_status lead_init(gather_negotiator *p)
{
    size_t n = (size_t)node_size(p);
    p->missing = (int)n - 1;
    p->local_ranks = calloc(n, sizeof *p->local_ranks);
    p->graph = sk_global_graph_new(p->base.nranks, p->edges);
    p->ranks = malloc((size_t)p->base.nranks * sizeof *p->ranks);
    p->ends = calloc((size_t)p->m->nnodes, sizeof *p->ends);
    p->plans = calloc(SK_NMETHODS * n, sizeof(sk_pattern *));
    return p->local_ranks && p->graph && p->ranks && p->ends && p->plans ? SK_OK : SK_NOMEM;
}

static void forget(gather_negotiator *p)
{
    for (int i = 0; p->local_ranks && i < node_size(p); i++)
        free(p->local_ranks[i].words);
    free(p->local_ranks);
    free(p->known);
    free(p->ends);
    free(p->ranks);
    sk_global_graph_free(p->graph);
    p->local_ranks = NULL;
    p->known = NULL;
    p->ends = NULL;
    p->ranks = NULL;
    p->graph = NULL;
}

static void gather_free(sk_negotiator *negotiator)
{
    gather_negotiator *p = (gather_negotiator *)negotiator;
    for (int i = 0; p->plans && i < SK_NMETHODS * node_size(p); i++)
        sk_pattern_free(p->plans[i]);
    free(p->plans);
    forget(p);
    free(p);
}

/* sk_global_graph_add detects ranks that are their own targets, and too many edges. */
static sk_status read_targets(gather_negotiator *p, int rank, const int32_t *words, size_t n,
                              size_t *used)
{
    int many = 0;
    *used = sk_rankset_get(words, n, p->base.nranks, p->ranks, &many);
    return *used && sk_global_graph_add(p->graph, rank, p->ranks, many) == SK_OK ? SK_OK : SK_WIRE;
}

/* Stores the targets of a local rank, or of the leader as local rank 0. */
static sk_status keep_targets(gather_negotiator *p, int local_rank, const int32_t *words, size_t n)
{
    size_t used = 0;
    int rank = p->m->rank_at[p->m->position[p->base.rank] + local_rank];
    sk_status st = read_targets(p, rank, words, n, &used);
    if (st != SK_OK || used != n)
        return SK_WIRE;
    int32_t *copy = malloc(n * sizeof *copy);
    if (!copy)
        return SK_NOMEM;
    memcpy(copy, words, n * sizeof *copy);
    p->local_ranks[local_rank] = (gather_words){copy, n};
    return SK_OK;
}

static sk_status append(gather_negotiator *p, const int32_t *words, size_t n)
{
    if (p->used + n > p->cap) {
        size_t cap = 2 * (p->used + n);
        int32_t *more = realloc(p->known, cap * sizeof *more);
        if (!more)
            return SK_NOMEM;
        p->known = more;
        p->cap = cap;
    }
    memcpy(p->known + p->used, words, n * sizeof *words);
    p->used += n;
    return SK_OK;
}

/* All local ranks have sent their targets. They arrive in any order, and are joined in the machine's. */
static sk_status join_targets(gather_negotiator *p)
{
    sk_status st = append(p, &(int32_t){0}, 1); /* the phase will be stored here */
    for (int i = 0; i < node_size(p) && st == SK_OK; i++)
        st = append(p, p->local_ranks[i].words, p->local_ranks[i].n);
    p->ends[p->nknown++] = p->used;
    return st;
}

/* Reads the targets of a node's ranks, at the head of the words, into the global graph. `pass_on`: they
 * are needed for a later round. */
static sk_status read_node(gather_negotiator *p, int node, bool pass_on, const int32_t *words,
                           size_t n, size_t *used)
{
    const sk_machine *m = p->m;
    size_t at = 0;
    for (int i = m->node_first[node]; i < m->node_first[node + 1]; i++) {
        size_t one = 0;
        sk_status st = read_targets(p, m->rank_at[i], words + at, n - at, &one);
        if (st != SK_OK)
            return st;
        at += one;
    }
    *used = at;
    if (!pass_on)
        return SK_OK;
    sk_status st = append(p, words, at);
    p->ends[p->nknown++] = p->used;
    return st;
}

/* Plans for this node. The leader's own patterns go to negotiator->made. */
static sk_status plan_node(gather_negotiator *p)
{
    const sk_machine *m = p->m;
    int n = node_size(p);
    sk_status st = sk_global_graph_freeze(p->graph);
    for (int id = 0; id < SK_NMETHODS && st == SK_OK; id++) {
        if (!(p->methods >> id & 1))
            continue;
        sk_pattern **out = &p->plans[id * n];
        st = sk_method_get((sk_method_id)id)
                 ->plan(p->graph, m, &p->opts, &m->rank_at[m->position[p->base.rank]], n, out);
        if (st == SK_OK) {
            p->base.made[id] = out[0];
            out[0] = NULL;
        }
    }
    forget(p);
    return st;
}

/* Appends the length of a pattern and the pattern. */
static sk_status add_pattern(const sk_pattern *pattern, int32_t **words, size_t *n)
{
    int32_t *one = NULL;
    size_t many = 0;
    sk_status st = sk_pattern_pack(pattern, &one, &many);
    if (st != SK_OK)
        return st;
    int32_t *more = many <= INT32_MAX ? realloc(*words, (*n + 1 + many) * sizeof *more) : NULL;
    if (more) {
        *words = more;
        more[*n] = (int32_t)many;
        memcpy(more + *n + 1, one, many * sizeof *one);
        *n += 1 + many;
    }
    free(one);
    if (many > INT32_MAX)
        return SK_TOOBIG;
    return more ? SK_OK : SK_NOMEM;
}

/* The patterns of a local rank as a message. */
static sk_status pack_patterns(const gather_negotiator *p, int local_rank, int32_t **words,
                               size_t *n)
{
    int32_t *all = malloc(sizeof *all);
    size_t len = 1;
    if (!all)
        return SK_NOMEM;
    all[0] = PATTERNS;
    sk_status st = SK_OK;
    for (int id = 0; id < SK_NMETHODS && st == SK_OK; id++)
        if (p->methods >> id & 1)
            st = add_pattern(p->plans[id * node_size(p) + local_rank], &all, &len);
    if (st == SK_OK) {
        *words = all;
        *n = len;
    } else {
        free(all);
    }
    return st;
}

static int leader_of(const sk_machine *m, int node)
{
    return m->rank_at[m->node_first[node]];
}

static bool is_leader(const gather_negotiator *p)
{
    return p->base.rank == leader_of(p->m, p->m->node[p->base.rank]);
}

/* Sends the targets to the leader. The leader stores its own. */
static sk_status send_targets(gather_negotiator *p, sk_channel *ch)
{
    const sk_graph *g = p->g;
    size_t n = 1 + sk_rankset_words(g->nranks, g->ntargets);
    int32_t *words = malloc(n * sizeof *words);
    if (!words)
        return SK_NOMEM;
    words[0] = TARGETS;
    sk_rankset_put(words + 1, g->nranks, g->targets, g->ntargets);
    sk_status st = is_leader(p) ? keep_targets(p, 0, words + 1, n - 1)
                                : ch->send(ch, leader_of(p->m, p->m->node[g->rank]), words, n);
    free(words);
    return st;
}

/* ---- a rank that is no leader ---- */

static sk_status read_pattern(sk_negotiator *p, sk_method_id id, const int32_t *words, size_t n)
{
    sk_pattern *made = NULL;
    sk_status st = sk_pattern_unpack(words, n, &made);
    if (st != SK_OK)
        return st == SK_NOMEM ? st : SK_WIRE;
    const sk_pattern_view *v = sk_pattern_view_get(made);
    if (v->rank != p->rank || v->nranks != p->nranks) {
        sk_pattern_free(made);
        return SK_WIRE;
    }
    p->made[id] = made;
    return SK_OK;
}

static sk_status receive_patterns(gather_negotiator *p, int from, const int32_t *words, size_t n)
{
    if (from != leader_of(p->m, p->m->node[p->base.rank]))
        return SK_WIRE;
    sk_status st = SK_OK;
    words++, n--;
    for (int id = 0; id < SK_NMETHODS && st == SK_OK; id++) {
        if (!(p->methods >> id & 1))
            continue;
        if (n == 0 || words[0] < 0 || (size_t)words[0] > n - 1)
            return SK_WIRE;
        size_t len = (size_t)words[0];
        st = read_pattern(&p->base, (sk_method_id)id, words + 1, len);
        words += 1 + len;
        n -= 1 + len;
    }
    if (st == SK_OK && n != 0)
        st = SK_WIRE;
    p->base.done = st == SK_OK;
    return st;
}

/* ---- a leader ---- */

/* The number of nodes whose targets are sent in a round: all known ones, or those still missing. */
static int share(const gather_negotiator *p, int round)
{
    int have = 1 << round, rest = p->m->nnodes - have;
    return have < rest ? have : rest;
}

static int node_at(const gather_negotiator *p, int distance)
{
    int nodes = p->m->nnodes;
    return ((p->m->node[p->base.rank] + distance) % nodes + nodes) % nodes;
}

static sk_status send_patterns(gather_negotiator *p, sk_channel *ch)
{
    const sk_machine *m = p->m;
    int node = m->node[p->base.rank], first = m->node_first[node];
    sk_status st = plan_node(p);
    for (int i = 1; first + i < m->node_first[node + 1] && st == SK_OK; i++) {
        int32_t *words = NULL;
        size_t n = 0;
        st = pack_patterns(p, i, &words, &n);
        if (st == SK_OK)
            st = ch->send(ch, m->rank_at[first + i], words, n);
        free(words);
    }
    p->base.done = st == SK_OK;
    return st;
}

/* Sends the targets of this node and of known nodes after it to the node at distance -2^round. */
static sk_status begin_round(gather_negotiator *p, sk_channel *ch, int round)
{
    if (1 << round >= p->m->nnodes)
        return send_patterns(p, ch);
    p->base.phase = ROUND + round;
    p->known[0] = p->base.phase;
    int to = leader_of(p->m, node_at(p, -(1 << round)));
    return ch->send(ch, to, p->known, p->ends[share(p, round) - 1]);
}

static sk_status receive_round(gather_negotiator *p, sk_channel *ch, int from, const int32_t *words,
                               size_t n)
{
    int round = p->base.phase - ROUND, distance = 1 << round, count = share(p, round);
    if (from != leader_of(p->m, node_at(p, distance)))
        return SK_WIRE;
    bool pass_on = 2 * distance < p->m->nnodes;
    sk_status st = SK_OK;
    words++, n--;
    for (int i = 0; i < count && st == SK_OK; i++) {
        size_t used = 0;
        st = read_node(p, node_at(p, distance + i), pass_on, words, n, &used);
        words += used;
        n -= used;
    }
    if (st == SK_OK && n != 0)
        st = SK_WIRE;
    return st == SK_OK ? begin_round(p, ch, round + 1) : st;
}

/* The targets of this node are complete: the first round begins. */
static sk_status begin_rounds(gather_negotiator *p, sk_channel *ch)
{
    sk_status st = join_targets(p);
    return st == SK_OK ? begin_round(p, ch, 0) : st;
}

static sk_status receive_targets(gather_negotiator *p, sk_channel *ch, int from,
                                 const int32_t *words, size_t n)
{
    const sk_machine *m = p->m;
    int local_rank = m->position[from] - m->node_first[m->node[from]];
    if (m->node[from] != m->node[p->base.rank] || p->local_ranks[local_rank].words)
        return SK_WIRE;
    sk_status st = keep_targets(p, local_rank, words + 1, n - 1);
    if (st != SK_OK)
        return st;
    return --p->missing == 0 ? begin_rounds(p, ch) : SK_OK;
}

/* ---- the negotiator ---- */

static sk_status start(sk_negotiator *negotiator, sk_channel *ch)
{
    gather_negotiator *p = (gather_negotiator *)negotiator;
    sk_status st = send_targets(p, ch);
    if (!is_leader(p))
        p->base.phase = PATTERNS;
    else if (st == SK_OK && p->missing == 0)
        st = begin_rounds(p, ch);
    return st;
}

static sk_status receive(sk_negotiator *negotiator, sk_channel *ch, int from, const int32_t *words,
                         size_t n)
{
    gather_negotiator *p = (gather_negotiator *)negotiator;
    switch (p->base.phase) {
    case TARGETS:
        return receive_targets(p, ch, from, words, n);
    case PATTERNS:
        return receive_patterns(p, from, words, n);
    default:
        return receive_round(p, ch, from, words, n);
    }
}

sk_negotiator *sk_gather_negotiator(const sk_graph *g, const sk_machine *m,
                                    const sk_pattern_opts *o, unsigned methods, int64_t edges)
{
    static const sk_negotiator_ops ops = {start, receive, gather_free};
    gather_negotiator *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->base = (sk_negotiator){.ops = &ops, .rank = g->rank, .nranks = g->nranks};
    p->g = g;
    p->m = m;
    p->opts = *o;
    p->methods = methods;
    p->edges = edges;
    if (is_leader(p) && lead_init(p) != SK_OK) {
        sk_negotiator_free(&p->base);
        return NULL;
    }
    return &p->base;
}
