/* clerk.c: the blocks between two nodes, found by messages inside each of them.
 *
 * Each pair of nodes has a clerk on both of them: the local rank by whose number its distance is divisible but for a
 * remainder. Each rank sends to each clerk of its node the neighbours that it has in pairs of this clerk. A clerk then
 * knows all blocks of its pairs, and sends to each rank of its node what that has to do for them.
 *
 * messages  2 (ranks per node - 1) of each rank, none of them over the network
 * memory    the blocks of a clerk's pairs, about the degree of a rank, and a list for each rank of the node */
#include <stdlib.h>
#include <string.h>

#include "neighbor/method/node/pairs.h"
#include "neighbor/rankset.h"

/* Phases: the neighbours of all ranks of the node arrive, then what their clerks say. */
enum { NEIGHBORS, HOPS };
enum { TARGETS, SOURCES };

typedef struct clerk_block { /* of the pair with this node, in this direction */
    int32_t direction, node;
    sk_block block;
} clerk_block;

typedef struct clerk_negotiator {
    sk_negotiator base;
    const sk_graph *g;
    const sk_machine *m;
    const bool *idle;
    sk_method_id id;
    sk_pair_filler fill;
    int node, n;         /* mine, and its ranks */
    const int *local;    /* these */
    sk_pattern *pattern; /* mine, as far as it is known */
    clerk_block *blocks; /* of my pairs */
    size_t nblocks, cap;
    bool *heard; /* of each local rank, in this phase */
    int missing;
    int *scratch;
} clerk_negotiator;

/* The local rank that is the clerk of the pair of this node and another one. */
static int clerk_of(const clerk_negotiator *c, int direction, int node)
{
    int nodes = c->m->nnodes, by = direction == TARGETS ? node - c->node : c->node - node;
    return ((by + nodes) % nodes - 1) % c->n;
}

static sk_status add_block(clerk_negotiator *c, int direction, int local_rank, int other)
{
    if (c->nblocks == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 64;
        clerk_block *more = realloc(c->blocks, cap * sizeof *more);
        if (!more)
            return SK_NOMEM;
        c->blocks = more;
        c->cap = cap;
    }
    c->blocks[c->nblocks++] = (clerk_block){direction, c->m->node[other],
                                            direction == TARGETS ? (sk_block){local_rank, other}
                                                                 : (sk_block){other, local_rank}};
    return SK_OK;
}

/* Begins to await a message of each other rank of the node. */
static void await_all(clerk_negotiator *c)
{
    memset(c->heard, 0, (size_t)c->n * sizeof *c->heard);
    c->heard[c->m->local_rank[c->base.rank]] = true;
    c->missing = c->n - 1;
}

/* ---- what the clerks say ---- */

static sk_status take_hops(clerk_negotiator *c, const sk_pattern *said)
{
    const sk_pattern_view *v = sk_pattern_view_get(said);
    if (v->nranks != c->base.nranks || v->rank != c->base.rank)
        return SK_WIRE;
    for (size_t i = 0; i < v->nbundles; i++) {
        const sk_bundle *h = &v->bundles[i];
        for (uint32_t k = h->first; k < h->first + h->n; k++)
            (h->out ? sk_pattern_send : sk_pattern_recv)(c->pattern, h->stage, h->peer,
                                                         v->blocks[k].src, v->blocks[k].dst);
    }
    return SK_OK;
}

static sk_status finish(clerk_negotiator *c)
{
    sk_status st = sk_pattern_freeze(c->pattern);
    if (st != SK_OK)
        return st;
    c->base.made[c->id] = c->pattern;
    c->pattern = NULL;
    c->base.done = true;
    return SK_OK;
}

/* ---- the clerk ---- */

static int by_pair(const void *pa, const void *pb)
{
    const int32_t *a = pa, *b = pb;
    for (size_t i = 0; i < sizeof(clerk_block) / sizeof *a; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Adds the blocks of my pairs to the patterns of the local ranks. */
static sk_status fill_pairs(clerk_negotiator *c, sk_pattern **patterns)
{
    sk_node_fill f = {c->m, c->idle, c->node, patterns};
    sk_block *blocks = malloc((c->nblocks + 1) * sizeof *blocks);
    sk_status st = blocks ? SK_OK : SK_NOMEM;
    if (c->nblocks > 0)
        qsort(c->blocks, c->nblocks, sizeof *c->blocks, by_pair);
    for (size_t i = 0, n; i < c->nblocks && st == SK_OK; i += n) {
        const clerk_block *b = &c->blocks[i];
        for (n = 0; i + n < c->nblocks && b[n].direction == b->direction && b[n].node == b->node;
             n++)
            blocks[n] = b[n].block;
        bool out = b->direction == TARGETS;
        st = sk_pair_fill(&f, out ? c->node : b->node, out ? b->node : c->node, blocks, n, c->fill);
    }
    free(blocks);
    return st;
}

static sk_status tell_hops(clerk_negotiator *c, sk_channel *ch, int to, sk_pattern *p)
{
    int32_t *words = NULL;
    size_t n = 0;
    sk_status st = sk_pattern_freeze(p);
    if (st == SK_OK && to == c->base.rank)
        return take_hops(c, p);
    if (st == SK_OK)
        st = sk_pattern_pack(p, &words, &n);
    int32_t *message = st == SK_OK ? malloc((n + 1) * sizeof *message) : NULL;
    if (st == SK_OK && !message)
        st = SK_NOMEM;
    if (st == SK_OK) {
        message[0] = HOPS;
        if (n > 0)
            memcpy(message + 1, words, n * sizeof *words);
        st = ch->send(ch, to, message, n + 1);
    }
    free(words);
    free(message);
    return st;
}

/* All neighbours of my pairs are known. */
static sk_status work_out(clerk_negotiator *c, sk_channel *ch)
{
    sk_pattern **patterns = calloc((size_t)c->n, sizeof(sk_pattern *));
    sk_status st = patterns ? SK_OK : SK_NOMEM;
    for (int i = 0; i < c->n && st == SK_OK; i++) {
        patterns[i] = sk_pattern_new(c->base.nranks, c->local[i]);
        st = patterns[i] ? SK_OK : SK_NOMEM;
    }
    if (st == SK_OK)
        st = fill_pairs(c, patterns);
    for (int i = 0; i < c->n && st == SK_OK; i++)
        st = tell_hops(c, ch, c->local[i], patterns[i]);
    for (int i = 0; i < c->n && patterns; i++)
        sk_pattern_free(patterns[i]);
    free(patterns);
    free(c->blocks);
    c->blocks = NULL;
    c->nblocks = c->cap = 0;
    if (st != SK_OK)
        return st;
    c->base.phase = HOPS;
    await_all(c);
    return c->missing == 0 ? finish(c) : SK_OK;
}

/* ---- neighbours ---- */

/* Those of mine, in one direction, that belong to pairs of a clerk. */
static int neighbors_for(const clerk_negotiator *c, int direction, int clerk, int *out)
{
    const sk_graph *g = c->g;
    const int *all = direction == TARGETS ? g->targets : g->sources;
    int n = direction == TARGETS ? g->ntargets : g->nsources, count = 0;
    for (int i = 0; i < n; i++) {
        int node = c->m->node[all[i]];
        if (node != c->node && clerk_of(c, direction, node) == clerk)
            out[count++] = all[i];
    }
    return count;
}

static sk_status tell_neighbors(clerk_negotiator *c, sk_channel *ch, int clerk)
{
    int nranks = c->base.nranks, me = c->base.rank;
    sk_status st = SK_OK;
    if (c->local[clerk] == me) {
        for (int direction = 0; direction < 2 && st == SK_OK; direction++) {
            int n = neighbors_for(c, direction, clerk, c->scratch);
            for (int i = 0; i < n && st == SK_OK; i++)
                st = add_block(c, direction, me, c->scratch[i]);
        }
        return st;
    }
    size_t most = 1 + sk_rankset_words(nranks, c->g->ntargets) +
                  sk_rankset_words(nranks, c->g->nsources),
           at = 1;
    int32_t *words = malloc(most * sizeof *words);
    if (!words)
        return SK_NOMEM;
    words[0] = NEIGHBORS;
    for (int direction = 0; direction < 2; direction++) {
        int n = neighbors_for(c, direction, clerk, c->scratch);
        at += sk_rankset_put(words + at, nranks, c->scratch, n);
    }
    st = ch->send(ch, c->local[clerk], words, at);
    free(words);
    return st;
}

/* Blocks that stay on the node go straight to their target. */
static void add_local(clerk_negotiator *c)
{
    int me = c->base.rank;
    for (int i = 0; i < c->g->ntargets; i++)
        if (c->m->node[c->g->targets[i]] == c->node)
            sk_pattern_send(c->pattern, 0, c->g->targets[i], me, c->g->targets[i]);
    for (int i = 0; i < c->g->nsources; i++)
        if (c->m->node[c->g->sources[i]] == c->node)
            sk_pattern_recv(c->pattern, 0, c->g->sources[i], c->g->sources[i], me);
}

/* Neighbours of a local rank, in one direction, all of them of my pairs. */
static sk_status read_neighbors(clerk_negotiator *c, int direction, int from, const int32_t **words,
                                size_t *left)
{
    int n = 0, me = c->m->local_rank[c->base.rank];
    size_t used = sk_rankset_get(*words, *left, c->base.nranks, c->scratch, &n);
    sk_status st = used ? SK_OK : SK_WIRE;
    for (int i = 0; i < n && st == SK_OK; i++) {
        int node = c->m->node[c->scratch[i]];
        st = node != c->node && clerk_of(c, direction, node) == me
                 ? add_block(c, direction, from, c->scratch[i])
                 : SK_WIRE;
    }
    *words += used;
    *left -= used;
    return st;
}

/* ---- the negotiator ---- */

static sk_status start(sk_negotiator *p, sk_channel *ch)
{
    clerk_negotiator *c = (clerk_negotiator *)p;
    sk_status st = SK_OK;
    add_local(c);
    for (int i = 0; i < c->n && st == SK_OK; i++)
        st = tell_neighbors(c, ch, i);
    return st == SK_OK && c->missing == 0 ? work_out(c, ch) : st;
}

static sk_status receive_neighbors(clerk_negotiator *c, int from, const int32_t *words, size_t len)
{
    sk_status st = SK_OK;
    for (int direction = 0; direction < 2 && st == SK_OK; direction++)
        st = read_neighbors(c, direction, from, &words, &len);
    return st == SK_OK && len != 0 ? SK_WIRE : st;
}

static sk_status receive_hops(clerk_negotiator *c, const int32_t *words, size_t len)
{
    sk_pattern *said = NULL;
    sk_status st = sk_pattern_unpack(words, len, &said);
    if (st == SK_OK)
        st = take_hops(c, said);
    sk_pattern_free(said);
    return st == SK_BADARG ? SK_WIRE : st;
}

static sk_status receive(sk_negotiator *p, sk_channel *ch, int from, const int32_t *words,
                         size_t len)
{
    clerk_negotiator *c = (clerk_negotiator *)p;
    if (c->m->node[from] != c->node || c->heard[c->m->local_rank[from]])
        return SK_WIRE;
    c->heard[c->m->local_rank[from]] = true;
    bool first = p->phase == NEIGHBORS;
    sk_status st = first ? receive_neighbors(c, from, words + 1, len - 1)
                         : receive_hops(c, words + 1, len - 1);
    if (st != SK_OK || --c->missing > 0)
        return st;
    return first ? work_out(c, ch) : finish(c);
}

static void clerk_free(sk_negotiator *p)
{
    clerk_negotiator *c = (clerk_negotiator *)p;
    sk_pattern_free(c->pattern);
    free(c->blocks);
    free(c->heard);
    free(c->scratch);
    free(c);
}

sk_negotiator *sk_pairs_negotiator(const sk_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                                   sk_method_id id, sk_pair_filler fill)
{
    static const sk_negotiator_ops ops = {start, receive, clerk_free};
    clerk_negotiator *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    int most = g->ntargets > g->nsources ? g->ntargets : g->nsources;
    c->base = (sk_negotiator){.ops = &ops, .rank = g->rank, .nranks = g->nranks};
    c->g = g;
    c->m = m;
    c->idle = o->idle;
    c->id = id;
    c->fill = fill;
    c->node = m->node[g->rank];
    c->local = sk_machine_local_ranks(m, g->rank, &c->n);
    c->pattern = sk_pattern_new(g->nranks, g->rank);
    c->heard = calloc((size_t)c->n, sizeof *c->heard);
    /* Ranks of a message: of any local rank. */
    c->scratch = malloc(((size_t)(g->nranks > most ? g->nranks : most) + 1) * sizeof *c->scratch);
    if (c->pattern && c->heard && c->scratch) {
        await_all(c);
        return &c->base;
    }
    clerk_free(&c->base);
    return NULL;
}
