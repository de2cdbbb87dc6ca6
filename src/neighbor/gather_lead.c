/* gather_lead.c: what the leader of a node does in the accelerated set-up: collects the whole graph
 * and plans for its node. Graph and words are freed when the patterns are there. */
#include <stdlib.h>
#include <string.h>

#include "neighbor/gather.h"
#include "neighbor/rankset.h"

static int local_ranks_of(const gather_negotiator *p)
{
    int node = p->m->node[p->negotiator.rank];
    return p->m->node_first[node + 1] - p->m->node_first[node];
}

sk_status sk_gather_lead(gather_negotiator *p)
{
    size_t n = (size_t)local_ranks_of(p);
    p->missing = (int)n - 1;
    p->local_ranks = calloc(n, sizeof *p->local_ranks);
    p->whole = sk_global_graph_new(p->negotiator.nranks, p->edges);
    p->room = malloc((size_t)p->negotiator.nranks * sizeof *p->room);
    p->ends = calloc((size_t)p->m->nnodes, sizeof *p->ends);
    p->plans = calloc(SK_NMETHODS * n, sizeof(sk_pattern *));
    return p->local_ranks && p->whole && p->room && p->ends && p->plans ? SK_OK : SK_NOMEM;
}

static void forget(gather_negotiator *p)
{
    for (int i = 0; p->local_ranks && i < local_ranks_of(p); i++)
        free(p->local_ranks[i].words);
    free(p->local_ranks);
    free(p->known);
    free(p->ends);
    free(p->room);
    sk_global_graph_free(p->whole);
    p->local_ranks = NULL;
    p->known = NULL;
    p->ends = NULL;
    p->room = NULL;
    p->whole = NULL;
}

void sk_gather_free(sk_negotiator *negotiator)
{
    gather_negotiator *p = (gather_negotiator *)negotiator;
    for (int i = 0; p->plans && i < SK_NMETHODS * local_ranks_of(p); i++)
        sk_pattern_free(p->plans[i]);
    free(p->plans);
    forget(p);
    free(p);
}

/* sk_global_graph_add finds out about ranks that are their own targets and about edges too many. */
static sk_status read_rank(gather_negotiator *p, int rank, const int32_t *words, size_t n,
                           size_t *used)
{
    int many = 0;
    *used = sk_rankset_get(words, n, p->negotiator.nranks, p->room, &many);
    return *used && sk_global_graph_add(p->whole, rank, p->room, many) == SK_OK ? SK_OK : SK_WIRE;
}

sk_status sk_gather_keep(gather_negotiator *p, int local_rank, const int32_t *words, size_t n)
{
    size_t used = 0;
    int rank = p->m->order[p->m->place[p->negotiator.rank] + local_rank];
    sk_status st = read_rank(p, rank, words, n, &used);
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

sk_status sk_gather_join(gather_negotiator *p)
{
    sk_status st = append(p, &(int32_t){0}, 1); /* the phase will stand here */
    for (int i = 0; i < local_ranks_of(p) && st == SK_OK; i++)
        st = append(p, p->local_ranks[i].words, p->local_ranks[i].n);
    p->ends[p->nknown++] = p->used;
    return st;
}

sk_status sk_gather_read(gather_negotiator *p, int node, bool pass_on, const int32_t *words,
                         size_t n, size_t *used)
{
    const sk_machine *m = p->m;
    size_t at = 0;
    for (int i = m->node_first[node]; i < m->node_first[node + 1]; i++) {
        size_t one = 0;
        sk_status st = read_rank(p, m->order[i], words + at, n - at, &one);
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

sk_status sk_gather_plan(gather_negotiator *p)
{
    const sk_machine *m = p->m;
    int n = local_ranks_of(p);
    sk_status st = sk_global_graph_freeze(p->whole);
    for (int id = 0; id < SK_NMETHODS && st == SK_OK; id++) {
        if (!(p->methods >> id & 1))
            continue;
        sk_pattern **out = &p->plans[id * n];
        st = sk_method_get((sk_method_id)id)
                 ->plan(p->whole, m, &p->opts, &m->order[m->place[p->negotiator.rank]], n, out);
        if (st == SK_OK) {
            p->negotiator.made[id] = out[0];
            out[0] = NULL;
        }
    }
    forget(p);
    return st;
}

/* How long it is, then the pattern. */
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

sk_status sk_gather_pack(const gather_negotiator *p, int local_rank, int32_t **words, size_t *n)
{
    int32_t *all = malloc(sizeof *all);
    size_t len = 1;
    if (!all)
        return SK_NOMEM;
    all[0] = PATTERNS;
    sk_status st = SK_OK;
    for (int id = 0; id < SK_NMETHODS && st == SK_OK; id++)
        if (p->methods >> id & 1)
            st = add_pattern(p->plans[id * local_ranks_of(p) + local_rank], &all, &len);
    if (st == SK_OK) {
        *words = all;
        *n = len;
    } else {
        free(all);
    }
    return st;
}
