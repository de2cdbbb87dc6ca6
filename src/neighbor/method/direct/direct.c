/* direct.c: one message per edge, directly from the user's buffer into the user's buffer, as every MPI
 * does it: the baseline.
 *
 * cost      degree alpha + degree m beta
 * rounds    1, or more when a window is set
 * scratch   none
 * good for  few neighbours, long blocks
 * set-up    none: every rank knows its part already */
#include <stdlib.h>

#include "neighbor/cost/predict.h"
#include "neighbor/method.h"

static sk_status make(int nranks, int rank, const int *targets, int ntargets, const int *sources,
                      int nsources, sk_pattern **out)
{
    sk_pattern *p = sk_pattern_new(nranks, rank);
    if (!p)
        return SK_NOMEM;
    for (int i = 0; i < ntargets; i++)
        sk_pattern_send(p, 0, targets[i], rank, targets[i]);
    for (int i = 0; i < nsources; i++)
        sk_pattern_recv(p, 0, sources[i], sources[i], rank);
    sk_status st = sk_pattern_freeze(p);
    if (st == SK_OK)
        *out = p;
    else
        sk_pattern_free(p);
    return st;
}

static sk_status plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                      const int *ranks, int n, sk_pattern **out)
{
    (void)m, (void)o;
    int nranks = sk_global_graph_nranks(g), done = 0;
    int *targets = malloc(2 * (size_t)nranks * sizeof *targets);
    sk_status st = targets ? SK_OK : SK_NOMEM;
    for (; done < n && st == SK_OK; done += st == SK_OK) {
        int r = ranks[done];
        sk_global_graph_targets(g, r, targets);
        sk_global_graph_sources(g, r, targets + nranks);
        st = make(nranks, r, targets, sk_global_graph_degree(g, r, false), targets + nranks,
                  sk_global_graph_degree(g, r, true), &out[done]);
    }
    while (st != SK_OK && done > 0)
        sk_pattern_free(out[--done]);
    free(targets);
    return st;
}

typedef struct direct_negotiator {
    sk_negotiator base;
    const sk_graph *g;
} direct_negotiator;

static sk_status start(sk_negotiator *p, sk_channel *ch)
{
    (void)ch;
    const sk_graph *g = ((direct_negotiator *)p)->g;
    sk_status st = make(g->nranks, g->rank, g->targets, g->ntargets, g->sources, g->nsources,
                        &p->made[SK_METHOD_DIRECT]);
    p->done = st == SK_OK;
    return st;
}

static sk_status receive(sk_negotiator *p, sk_channel *ch, int from, const int32_t *words, size_t n)
{
    (void)p, (void)ch, (void)from, (void)words, (void)n;
    return SK_WIRE; /* nobody sends anything */
}

static void negotiator_free(sk_negotiator *p)
{
    free(p);
}

static sk_negotiator *negotiator(const sk_graph *g, const sk_machine *m, const sk_pattern_opts *o)
{
    (void)m, (void)o;
    static const sk_negotiator_ops ops = {start, receive, negotiator_free};
    direct_negotiator *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->base = (sk_negotiator){.ops = &ops, .rank = g->rank, .nranks = g->nranks};
    d->g = g;
    return &d->base;
}

const sk_method sk_method_direct = {
    .name = "direct",
    .plan = plan,
    .negotiator = negotiator,
    .predict = sk_predict_direct,
};
