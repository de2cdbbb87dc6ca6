/* gather.c: the accelerated set-up, for graphs that fit into memory once per node.
 * idea      the ranks of a node send their targets to the first of them, the leader; leaders
 *           exchange what they have in rounds of doubling distance (Bruck), so that each then has
 *           the whole graph; a leader plans for its node and hands out the patterns
 * messages  2 (ranks - nodes) + nodes ceil(log2 nodes), however many methods are made
 * good for  all graphs that fit; negotiation takes many times the messages
 *
 * Here is the protocol; gather_lead.c holds what only leaders do. */
#include "neighbor/gather.h"

#include <stdlib.h>

#include "neighbor/rankset.h"

static int leader_of(const sk_machine *m, int node)
{
    return m->order[m->node_first[node]];
}

static bool is_leader(const gather_negotiator *p)
{
    return p->negotiator.rank == leader_of(p->m, p->m->node[p->negotiator.rank]);
}

/* To the leader; as the leader, to oneself. */
static sk_status tell_targets(gather_negotiator *p, sk_channel *t)
{
    const sk_graph *g = p->g;
    size_t n = 1 + sk_rankset_words(g->nranks, g->ntargets);
    int32_t *words = malloc(n * sizeof *words);
    if (!words)
        return SK_NOMEM;
    words[0] = TARGETS;
    sk_rankset_put(words + 1, g->nranks, g->targets, g->ntargets);
    sk_status st = is_leader(p) ? sk_gather_keep(p, 0, words + 1, n - 1)
                                : t->send(t, leader_of(p->m, p->m->node[g->rank]), words, n);
    free(words);
    return st;
}

/* ---- a local rank ---- */

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

static sk_status take_patterns(gather_negotiator *p, int from, const int32_t *words, size_t n)
{
    if (from != leader_of(p->m, p->m->node[p->negotiator.rank]))
        return SK_WIRE;
    sk_status st = SK_OK;
    words++, n--;
    for (int id = 0; id < SK_NMETHODS && st == SK_OK; id++) {
        if (!(p->methods >> id & 1))
            continue;
        if (n == 0 || words[0] < 0 || (size_t)words[0] > n - 1)
            return SK_WIRE;
        size_t len = (size_t)words[0];
        st = read_pattern(&p->negotiator, (sk_method_id)id, words + 1, len);
        words += 1 + len;
        n -= 1 + len;
    }
    if (st == SK_OK && n != 0)
        st = SK_WIRE;
    p->negotiator.done = st == SK_OK;
    return st;
}

/* ---- a leader ---- */

/* How many nodes' targets travel in a round: all that were heard of, or what is still missing. */
static int share(const gather_negotiator *p, int round)
{
    int have = 1 << round, rest = p->m->nnodes - have;
    return have < rest ? have : rest;
}

static int node_at(const gather_negotiator *p, int distance)
{
    int nodes = p->m->nnodes;
    return ((p->m->node[p->negotiator.rank] + distance) % nodes + nodes) % nodes;
}

static sk_status send_patterns(gather_negotiator *p, sk_channel *t)
{
    const sk_machine *m = p->m;
    int node = m->node[p->negotiator.rank], first = m->node_first[node];
    sk_status st = sk_gather_plan(p);
    for (int i = 1; first + i < m->node_first[node + 1] && st == SK_OK; i++) {
        int32_t *words = NULL;
        size_t n = 0;
        st = sk_gather_pack(p, i, &words, &n);
        if (st == SK_OK)
            st = t->send(t, m->order[first + i], words, n);
        free(words);
    }
    p->negotiator.done = st == SK_OK;
    return st;
}

/* What is known of my node and those after it goes to the node that lies as far before me. */
static sk_status begin_round(gather_negotiator *p, sk_channel *t, int round)
{
    if (1 << round >= p->m->nnodes)
        return send_patterns(p, t);
    p->negotiator.phase = ROUND + round;
    p->known[0] = p->negotiator.phase;
    int to = leader_of(p->m, node_at(p, -(1 << round)));
    return t->send(t, to, p->known, p->ends[share(p, round) - 1]);
}

static sk_status take_round(gather_negotiator *p, sk_channel *t, int from, const int32_t *words,
                            size_t n)
{
    int round = p->negotiator.phase - ROUND, distance = 1 << round, count = share(p, round);
    if (from != leader_of(p->m, node_at(p, distance)))
        return SK_WIRE;
    bool pass_on = 2 * distance < p->m->nnodes;
    sk_status st = SK_OK;
    words++, n--;
    for (int i = 0; i < count && st == SK_OK; i++) {
        size_t used = 0;
        st = sk_gather_read(p, node_at(p, distance + i), pass_on, words, n, &used);
        words += used;
        n -= used;
    }
    if (st == SK_OK && n != 0)
        st = SK_WIRE;
    return st == SK_OK ? begin_round(p, t, round + 1) : st;
}

/* The node's targets are complete: the first round begins. */
static sk_status begin_rounds(gather_negotiator *p, sk_channel *t)
{
    sk_status st = sk_gather_join(p);
    return st == SK_OK ? begin_round(p, t, 0) : st;
}

static sk_status take_targets(gather_negotiator *p, sk_channel *t, int from, const int32_t *words,
                              size_t n)
{
    const sk_machine *m = p->m;
    int local_rank = m->place[from] - m->node_first[m->node[from]];
    if (m->node[from] != m->node[p->negotiator.rank] || p->local_ranks[local_rank].words)
        return SK_WIRE;
    sk_status st = sk_gather_keep(p, local_rank, words + 1, n - 1);
    if (st != SK_OK)
        return st;
    return --p->missing == 0 ? begin_rounds(p, t) : SK_OK;
}

/* ---- the negotiator ---- */

static sk_status start(sk_negotiator *negotiator, sk_channel *t)
{
    gather_negotiator *p = (gather_negotiator *)negotiator;
    sk_status st = tell_targets(p, t);
    if (!is_leader(p))
        p->negotiator.phase = PATTERNS;
    else if (st == SK_OK && p->missing == 0)
        st = begin_rounds(p, t);
    return st;
}

static sk_status take(sk_negotiator *negotiator, sk_channel *t, int from, const int32_t *words,
                      size_t n)
{
    gather_negotiator *p = (gather_negotiator *)negotiator;
    switch (p->negotiator.phase) {
    case TARGETS:
        return take_targets(p, t, from, words, n);
    case PATTERNS:
        return take_patterns(p, from, words, n);
    default:
        return take_round(p, t, from, words, n);
    }
}

sk_negotiator *sk_gather_negotiator(const sk_graph *g, const sk_machine *m,
                                    const sk_pattern_opts *o, unsigned methods, int64_t edges)
{
    static const sk_negotiator_ops ops = {start, take, sk_gather_free};
    gather_negotiator *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->negotiator = (sk_negotiator){.ops = &ops, .rank = g->rank, .nranks = g->nranks};
    p->g = g;
    p->m = m;
    p->opts = *o;
    p->methods = methods;
    p->edges = edges;
    if (is_leader(p) && sk_gather_lead(p) != SK_OK) {
        sk_negotiator_free(&p->negotiator);
        return NULL;
    }
    return &p->negotiator;
}
