/* halving_weigh.c: the paper's matrix A by messages. Every rank sends the list of its sources to
 * its sources; of each list only sums are kept: rank b, which parts from me in step t, has in
 * common with me as my agent:  targets that part from me in step t too: they are in b's half; as my
 * origin: targets that part from me later or never: they are in mine; and one more when the agent
 * is itself a target of the origin. */
#include "neighbor/halving_weigh.h"

#include <stdlib.h>

#include "neighbor/rankset.h"

static void find_steps(sk_weigh *w, const sk_halving *h)
{
    const sk_machine *m = h->machine;
    sk_group g = {0, m->nsockets};
    int mine = m->socket[w->graph->rank], step = 0;
    for (; g.last - g.first > 1; step++) {
        int cut = sk_group_cut(m, g);
        sk_group lower = {g.first, cut}, upper = {cut, g.last};
        sk_half other = sk_group_places(m, mine < cut ? upper : lower);
        for (int i = other.lo; i < other.hi; i++)
            w->step[m->order[i]] = (int8_t)step;
        g = mine < cut ? lower : upper;
    }
    sk_half socket = sk_group_places(m, g);
    for (int i = socket.lo; i < socket.hi; i++)
        w->step[m->order[i]] = (int8_t)h->steps;
}

sk_status sk_weigh_init(sk_weigh *w, const sk_graph *g, const sk_halving *h)
{
    size_t n = (size_t)g->nranks;
    *w = (sk_weigh){.graph = g,
                    .step = malloc(n * sizeof *w->step),
                    .as_agent = calloc(n, sizeof *w->as_agent),
                    .as_origin = calloc(n, sizeof *w->as_origin),
                    .list = malloc(n * sizeof *w->list)};
    if (!w->step || !w->as_agent || !w->as_origin || !w->list) {
        sk_weigh_free(w);
        return SK_NOMEM;
    }
    find_steps(w, h);
    for (int i = 0; i < g->ntargets; i++)
        w->as_agent[g->targets[i]]++;
    for (int i = 0; i < g->nsources; i++)
        w->as_origin[g->sources[i]]++;
    return SK_OK;
}

void sk_weigh_free(sk_weigh *w)
{
    free(w->step);
    free(w->as_agent);
    free(w->as_origin);
    free(w->list);
    *w = (sk_weigh){0};
}

sk_status sk_weigh_tell(const sk_weigh *w, sk_channel *t, sk_due *due, int phase)
{
    const sk_graph *g = w->graph;
    int32_t *words = malloc((1 + sk_rankset_words(g->nranks, g->nsources)) * sizeof *words);
    if (!words)
        return SK_NOMEM;
    words[0] = phase;
    size_t n = 1 + sk_rankset_put(words + 1, g->nranks, g->sources, g->nsources);
    sk_status st = SK_OK;
    for (int i = 0; i < g->ntargets; i++)
        sk_due_add(due, g->targets[i]);
    for (int i = 0; i < g->nsources && st == SK_OK; i++)
        st = t->send(t, g->sources[i], words, n);
    free(words);
    return st;
}

sk_status sk_weigh_take(sk_weigh *w, int from, const int32_t *words, size_t n)
{
    int many;
    size_t read = sk_rankset_get(words + 1, n - 1, w->graph->nranks, w->list, &many);
    if (read == 0 || read != n - 1)
        return SK_WIRE;
    for (int i = 0; i < many; i++) {
        int source = w->list[i];
        w->as_agent[source] += w->step[from] == w->step[source];
        w->as_origin[source] += w->step[from] > w->step[source];
    }
    return SK_OK;
}

int sk_weigh_candidates(const sk_weigh *w, const sk_machine *m, sk_half other, bool origin,
                        sk_choice *out)
{
    const int32_t *weight = origin ? w->as_agent : w->as_origin;
    int n = 0;
    for (int i = other.lo; i < other.hi; i++)
        if (weight[m->order[i]] > 0)
            out[n++] = sk_choice_of(weight[m->order[i]], w->graph->rank, m->order[i]);
    return n;
}
