/* check.c: the blocks are sorted and checked rank by rank, so that thousands of ranks with millions of
 * blocks take seconds. */
#include "lab/neighbor/check.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct block_event { /* a block that arrives */
    int32_t src, dst, stage;
} block_event;

typedef struct pattern_check {
    const sk_global_graph *g;
    const sk_pattern_view **view;
    int n;
    block_event *in; /* of the rank that is checked */
    sk_block *out;
    size_t nin, nout;
    int64_t delivered;
    char *why;
    size_t size;
} pattern_check;

static int by_block(const void *pa, const void *pb)
{
    const sk_block *a = pa, *b = pb;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return a->dst < b->dst ? -1 : a->dst > b->dst;
}

/* An event begins like a block, so by_block sorts both. */
_Static_assert(offsetof(block_event, src) == offsetof(sk_block, src),
               "events are compared as blocks");
_Static_assert(offsetof(block_event, dst) == offsetof(sk_block, dst),
               "events are compared as blocks");

static int by_bundle(const void *pa, const void *pb)
{
    const sk_bundle *a = pa, *b = pb;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    if (a->out != b->out)
        return a->out ? 1 : -1;
    return a->peer < b->peer ? -1 : a->peer > b->peer;
}

#define FAULT(c, ...) (snprintf((c)->why, (c)->size, __VA_ARGS__), true)

static bool bundle_fault(pattern_check *c, int r, const sk_bundle *h)
{
    const sk_pattern_view *v = c->view[r];
    if (h->n == 0 || h->first > v->nblocks || h->n > v->nblocks - h->first)
        return FAULT(c, "rank %d: the bundle with %d in stage %d is not in its blocks", r, h->peer,
                     h->stage);
    if (h->peer < 0 || h->peer >= c->n || h->peer == r || h->stage < 0 || h->stage >= v->nstages)
        return FAULT(c, "rank %d: no bundle with %d in stage %d can be", r, h->peer, h->stage);
    const sk_block *p = &v->blocks[h->first];
    for (uint32_t k = 0; k < h->n; k++) {
        if (k && by_block(&p[k - 1], &p[k]) >= 0)
            return FAULT(c, "rank %d: the blocks with %d in stage %d are out of order", r, h->peer,
                         h->stage);
        if (p[k].src < 0 || p[k].src >= c->n || p[k].dst < 0 || p[k].dst >= c->n ||
            !sk_global_graph_has(c->g, p[k].src, p[k].dst))
            return FAULT(c, "rank %d: a block %d -> %d, but there is no such edge", r, p[k].src,
                         p[k].dst);
    }
    return false;
}

static bool form_fault(pattern_check *c, int r)
{
    const sk_pattern_view *v = c->view[r];
    if (v->rank != r || v->nranks != c->n)
        return FAULT(c, "rank %d: the pattern is of rank %d of %d", r, v->rank, v->nranks);
    for (size_t i = 0; i < v->nbundles; i++) {
        if (i && by_bundle(&v->bundles[i - 1], &v->bundles[i]) >= 0)
            return FAULT(c, "rank %d: bundle %zu is out of order", r, i);
        if (bundle_fault(c, r, &v->bundles[i]))
            return true;
    }
    return false;
}

/* Bundles are sorted and unique, so when all have a counterpart they are pairs. */
static bool match_fault(pattern_check *c, int r)
{
    const sk_pattern_view *v = c->view[r];
    for (size_t i = 0; i < v->nbundles; i++) {
        const sk_bundle *h = &v->bundles[i];
        const sk_pattern_view *w = c->view[h->peer];
        sk_bundle want = {.stage = h->stage, .peer = r, .out = !h->out};
        const sk_bundle *o =
            w->nbundles ? bsearch(&want, w->bundles, w->nbundles, sizeof want, by_bundle) : NULL;
        if (!o)
            return FAULT(c, "rank %d: the bundle %s %d in stage %d is not known there", r,
                         h->out ? "to" : "from", h->peer, h->stage);
        if (o->n != h->n ||
            memcmp(&v->blocks[h->first], &w->blocks[o->first], h->n * sizeof *v->blocks) != 0)
            return FAULT(c, "rank %d: the bundle %s %d in stage %d has other blocks there", r,
                         h->out ? "to" : "from", h->peer, h->stage);
    }
    return false;
}

static bool way_fault(pattern_check *c, int r, const sk_bundle *h, const sk_block *p)
{
    if (p->dst == r)
        return FAULT(c, "rank %d sends on %d -> %d, which is for itself", r, p->src, p->dst);
    if (p->src == r)
        return false;
    const block_event *e = c->nin ? bsearch(p, c->in, c->nin, sizeof *e, by_block) : NULL;
    if (!e || e->stage >= h->stage)
        return FAULT(c, "rank %d sends %d -> %d in stage %d, but did not get it before", r, p->src,
                     p->dst, h->stage);
    return false;
}

static void collect(pattern_check *c, const sk_pattern_view *v)
{
    c->nin = c->nout = 0;
    for (size_t i = 0; i < v->nbundles; i++) {
        const sk_bundle *h = &v->bundles[i];
        for (uint32_t k = 0; k < h->n; k++) {
            sk_block p = v->blocks[h->first + k];
            if (h->out)
                c->out[c->nout++] = p;
            else
                c->in[c->nin++] = (block_event){p.src, p.dst, h->stage};
        }
    }
    if (c->nin)
        qsort(c->in, c->nin, sizeof *c->in, by_block);
    if (c->nout)
        qsort(c->out, c->nout, sizeof *c->out, by_block);
}

/* A block arrives once, is not the rank's own, and is sent on unless it is for this rank. */
static bool arrival_fault(pattern_check *c, int r)
{
    for (size_t i = 0; i < c->nin; i++) {
        const block_event *e = &c->in[i];
        if (i && by_block(e - 1, e) == 0)
            return FAULT(c, "rank %d gets %d -> %d twice", r, e->src, e->dst);
        if (e->src == r)
            return FAULT(c, "rank %d gets its own %d -> %d back", r, e->src, e->dst);
        c->delivered += e->dst == r;
        if (e->dst != r && !(c->nout && bsearch(e, c->out, c->nout, sizeof *c->out, by_block)))
            return FAULT(c, "rank %d does not send on %d -> %d", r, e->src, e->dst);
    }
    return false;
}

static bool rank_fault(pattern_check *c, int r)
{
    const sk_pattern_view *v = c->view[r];
    collect(c, v);
    for (size_t i = 1; i < c->nout; i++)
        if (by_block(&c->out[i - 1], &c->out[i]) == 0)
            return FAULT(c, "rank %d sends %d -> %d twice", r, c->out[i].src, c->out[i].dst);
    for (size_t i = 0; i < v->nbundles; i++)
        for (uint32_t k = 0; k < v->bundles[i].n && v->bundles[i].out; k++)
            if (way_fault(c, r, &v->bundles[i], &v->blocks[v->bundles[i].first + k]))
                return true;
    return arrival_fault(c, r);
}

static bool allocate(pattern_check *c, sk_pattern *const *patterns)
{
    size_t most = 1;
    c->view = calloc((size_t)c->n, sizeof(void *));
    for (int r = 0; r < c->n && c->view; r++) {
        c->view[r] = sk_pattern_view_get(patterns[r]);
        most = c->view[r]->nblocks > most ? c->view[r]->nblocks : most;
    }
    c->in = malloc(most * sizeof *c->in);
    c->out = malloc(most * sizeof *c->out);
    return c->view && c->in && c->out;
}

bool sk_patterns_fault(const sk_global_graph *g, sk_pattern *const *patterns, int n, char *why,
                       size_t size)
{
    pattern_check c = {.g = g, .n = n, .why = why, .size = size};
    bool fault = !allocate(&c, patterns) && FAULT(&c, "out of memory");
    for (int r = 0; r < n && !fault; r++)
        fault = form_fault(&c, r);
    for (int r = 0; r < n && !fault; r++)
        fault = match_fault(&c, r) || rank_fault(&c, r);
    /* Each delivery was of an edge, and none was made twice: so counting is enough. */
    if (!fault && c.delivered != sk_global_graph_edges(g))
        fault = FAULT(&c, "%lld of %lld edges are delivered", (long long)c.delivered,
                      (long long)sk_global_graph_edges(g));
    free(c.view);
    free(c.in);
    free(c.out);
    return fault;
}

/* ---- the two forms of a method, side by side ---- */

#define METHOD_FAULT(...) (snprintf(why, size, __VA_ARGS__), true)

static bool negotiator_fault(sk_method_id id, const sk_global_graph *g, const sk_machine *m,
                             const sk_pattern_opts *o, unsigned seed, sk_pattern *const *plan,
                             char *why, size_t size)
{
    int n = sk_global_graph_nranks(g), other = -1;
    sk_pattern **by_negotiator = calloc((size_t)n, sizeof(void *));
    sk_status st = by_negotiator
                       ? sk_patterns_by_negotiation(id, g, m, o, seed, by_negotiator, NULL)
                       : SK_NOMEM;
    for (int r = 0; r < n && st == SK_OK; r++)
        if (other < 0 && !sk_pattern_equal(plan[r], by_negotiator[r]))
            other = r;
    if (by_negotiator)
        sk_patterns_free(by_negotiator, n);
    free(by_negotiator);
    if (st != SK_OK)
        return METHOD_FAULT("the negotiators with seed %u: %s", seed, sk_status_text(st));
    return other >= 0 &&
           METHOD_FAULT("with seed %u rank %d has another pattern than planned", seed, other);
}

/* Every third rank, from the last: a plan for some ranks must not differ from the plan for all. */
static bool part_fault(sk_method_id id, const sk_global_graph *g, const sk_machine *m,
                       const sk_pattern_opts *o, sk_pattern *const *plan, char *why, size_t size)
{
    int n = sk_global_graph_nranks(g), many = 0, other = -1;
    int *ranks = malloc((size_t)n * sizeof *ranks);
    sk_pattern **part = calloc((size_t)n, sizeof(void *));
    sk_status st = ranks && part ? SK_OK : SK_NOMEM;
    for (int r = n - 1; r >= 0 && st == SK_OK; r -= 3)
        ranks[many++] = r;
    if (st == SK_OK)
        st = sk_method_get(id)->plan(g, m, o, ranks, many, part);
    for (int i = 0; i < many && st == SK_OK; i++)
        if (other < 0 && !sk_pattern_equal(plan[ranks[i]], part[i]))
            other = ranks[i];
    if (part)
        sk_patterns_free(part, many);
    free(part);
    free(ranks);
    if (st != SK_OK)
        return METHOD_FAULT("the plan for some ranks: %s", sk_status_text(st));
    return other >= 0 && METHOD_FAULT("the plan for some ranks is another one for %d", other);
}

bool sk_method_fault(sk_method_id id, const char *graph, const char *machine, int nranks,
                     const sk_pattern_opts *o, unsigned nseeds, char *why, size_t size)
{
    sk_global_graph *g = sk_check_graph(graph, nranks);
    sk_machine *m = sk_check_machine(machine, nranks);
    sk_pattern **plan = calloc((size_t)nranks, sizeof(void *));
    sk_status st = g && m && plan ? sk_patterns_by_plan(id, g, m, o, plan) : SK_BADARG;
    bool fault = st != SK_OK && METHOD_FAULT("the plan: %s", sk_status_text(st));
    if (!fault)
        fault = sk_patterns_fault(g, plan, nranks, why, size);
    if (!fault)
        fault = part_fault(id, g, m, o, plan, why, size);
    for (unsigned seed = 0; seed < nseeds && !fault; seed++)
        fault = negotiator_fault(id, g, m, o, seed, plan, why, size);
    if (plan)
        sk_patterns_free(plan, nranks);
    free(plan);
    sk_machine_free(m);
    sk_global_graph_free(g);
    return fault;
}
