/* node_negotiator.c: the distributed form of the per-node method. The ranks of a node tell each other
 * their neighbours, then each knows all blocks that leave and enter the node and so its own part:
 * ranks per node - 1 messages sent by each rank, none of them over the network. */
#include <stdlib.h>

#include "neighbor/node.h"
#include "neighbor/rankset.h"

typedef struct node_negotiator {
    sk_negotiator negotiator;
    const sk_graph *g;
    const sk_machine *m;
    const bool *idle;
    sk_local_ranks local_ranks;
    bool *heard; /* of each local rank */
    int missing;
    int *room;
} node_negotiator;

static sk_status make(node_negotiator *n)
{
    int rank = n->negotiator.rank;
    sk_pattern **wanted = calloc((size_t)n->local_ranks.n, sizeof(sk_pattern *));
    sk_pattern *p = sk_pattern_new(n->negotiator.nranks, rank);
    sk_status st = wanted && p ? SK_OK : SK_NOMEM;
    if (st == SK_OK) {
        wanted[sk_local_rank_of(n->m, rank)] = p;
        st = sk_node_fill(n->m, n->idle, &n->local_ranks, wanted);
    }
    if (st == SK_OK)
        st = sk_pattern_freeze(p);
    free(wanted);
    if (st != SK_OK) {
        sk_pattern_free(p);
        return st;
    }
    n->negotiator.made[SK_BY_NODE] = p;
    n->negotiator.done = true;
    return SK_OK;
}

static sk_status tell(const node_negotiator *n, sk_channel *t)
{
    const sk_graph *g = n->g;
    size_t len =
        1 + sk_rankset_words(g->nranks, g->ntargets) + sk_rankset_words(g->nranks, g->nsources);
    int32_t *words = malloc(len * sizeof *words);
    if (!words)
        return SK_NOMEM;
    words[0] = n->negotiator.phase;
    size_t at = 1;
    at += sk_rankset_put(words + at, g->nranks, g->targets, g->ntargets);
    sk_rankset_put(words + at, g->nranks, g->sources, g->nsources);
    sk_status st = SK_OK;
    const int *local_ranks = &n->m->order[n->m->node_first[n->local_ranks.node]];
    for (int i = 0; i < n->local_ranks.n && st == SK_OK; i++)
        if (local_ranks[i] != g->rank)
            st = t->send(t, local_ranks[i], words, len);
    free(words);
    return st;
}

static sk_status start(sk_negotiator *p, sk_channel *t)
{
    node_negotiator *n = (node_negotiator *)p;
    const sk_graph *g = n->g;
    int me = sk_local_rank_of(n->m, g->rank);
    sk_status st = sk_local_ranks_set(&n->local_ranks, me, SK_TARGETS, g->targets, g->ntargets);
    if (st == SK_OK)
        st = sk_local_ranks_set(&n->local_ranks, me, SK_SOURCES, g->sources, g->nsources);
    n->heard[me] = true;
    if (st == SK_OK)
        st = tell(n, t);
    return st == SK_OK && n->missing == 0 ? make(n) : st;
}

/* One set of neighbours of a local rank. */
static sk_status read_set(node_negotiator *n, int local_rank, int way, const int32_t **words,
                          size_t *left)
{
    int many = 0, from = n->m->order[n->m->node_first[n->local_ranks.node] + local_rank];
    size_t used = sk_rankset_get(*words, *left, n->negotiator.nranks, n->room, &many);
    if (used == 0)
        return SK_WIRE;
    for (int i = 0; i < many; i++)
        if (n->room[i] == from)
            return SK_WIRE;
    *words += used;
    *left -= used;
    return sk_local_ranks_set(&n->local_ranks, local_rank, way, n->room, many);
}

static sk_status take(sk_negotiator *p, sk_channel *t, int from, const int32_t *words, size_t len)
{
    (void)t;
    node_negotiator *n = (node_negotiator *)p;
    if (n->m->node[from] != n->local_ranks.node)
        return SK_WIRE;
    int local_rank = sk_local_rank_of(n->m, from);
    if (n->heard[local_rank])
        return SK_WIRE;
    words++, len--;
    sk_status st = read_set(n, local_rank, SK_TARGETS, &words, &len);
    if (st == SK_OK)
        st = read_set(n, local_rank, SK_SOURCES, &words, &len);
    if (st == SK_OK && len != 0)
        st = SK_WIRE;
    n->heard[local_rank] = true;
    n->missing--;
    return st == SK_OK && n->missing == 0 ? make(n) : st;
}

static void negotiator_free(sk_negotiator *p)
{
    node_negotiator *n = (node_negotiator *)p;
    sk_local_ranks_drop(&n->local_ranks);
    free(n->heard);
    free(n->room);
    free(n);
}

sk_negotiator *sk_node_negotiator(const sk_graph *g, const sk_machine *m, const sk_pattern_opts *o)
{
    static const sk_negotiator_ops ops = {start, take, negotiator_free};
    node_negotiator *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    if (sk_local_ranks_init(&n->local_ranks, m, m->node[g->rank]) != SK_OK) {
        free(n);
        return NULL;
    }
    n->negotiator = (sk_negotiator){.ops = &ops, .rank = g->rank, .nranks = g->nranks};
    n->g = g;
    n->m = m;
    n->idle = o->idle;
    n->missing = n->local_ranks.n - 1;
    n->heard = calloc((size_t)n->local_ranks.n, sizeof *n->heard);
    n->room = malloc((size_t)g->nranks * sizeof *n->room);
    if (n->heard && n->room)
        return &n->negotiator;
    negotiator_free(&n->negotiator);
    return NULL;
}
