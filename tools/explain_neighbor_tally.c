/* explain_neighbor_tally.c: the patterns of all ranks of a method, counted. */
#include <stdlib.h>
#include <time.h>

#include "explain_neighbor.h"

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Allgather carries a source once in a message; its parcels stand together. */
static int64_t blocks_of(const sk_pattern_view *v, const sk_haul *h, bool distinct)
{
    int64_t n = h->n;
    for (uint32_t i = h->first + 1; !distinct && i < h->first + h->n; i++)
        n -= v->parcels[i].src == v->parcels[i - 1].src;
    return n;
}

static sk_sent sent_by(const sk_pattern *p, const sk_machine *m, bool distinct)
{
    const sk_pattern_view *v = sk_pattern_view_get(p);
    sk_sent s = {0};
    for (size_t i = 0; i < v->nhauls; i++) {
        const sk_haul *h = &v->hauls[i];
        if (!h->out)
            continue;
        sk_level level = sk_machine_level(m, v->rank, h->peer);
        int64_t blocks = blocks_of(v, h, distinct);
        s.messages[level]++;
        s.messages[SK_NLEVELS]++;
        s.blocks[level] += blocks;
        s.blocks[SK_NLEVELS] += blocks;
    }
    return s;
}

static void add_rank(sk_neighbor_tally *t, const sk_sent *s)
{
    for (int k = 0; k <= SK_NLEVELS; k++) {
        t->total.messages[k] += s->messages[k];
        t->total.blocks[k] += s->blocks[k];
        if (s->messages[k] > t->most.messages[k])
            t->most.messages[k] = s->messages[k];
        if (s->blocks[k] > t->most.blocks[k])
            t->most.blocks[k] = s->blocks[k];
    }
}

sk_status sk_neighbor_tally_take(const sk_neighbor_scene *s, sk_method_id id,
                                 sk_neighbor_tally *out)
{
    int p = s->args.nranks;
    int *ranks = malloc((size_t)p * sizeof *ranks);
    sk_pattern **patterns = calloc((size_t)p, sizeof(sk_pattern *));
    sk_neighbor_tally t = {.method = sk_method_get(id)};
    sk_status st = SK_NOMEM;
    if (!ranks || !patterns)
        goto out;
    for (int r = 0; r < p; r++)
        ranks[r] = r;
    double begin = cpu_seconds();
    st = t.method->plan(s->graph, s->machine, &s->args.opts, ranks, p, patterns);
    if (st != SK_OK)
        goto out;
    t.planning = cpu_seconds() - begin;
    t.guess = sk_predict(id, s->machine, &s->size, &s->args.opts);
    for (int r = 0; r < p; r++) {
        sk_sent sent = sent_by(patterns[r], s->machine, s->distinct);
        sk_load load = sk_load_of(patterns[r], s->machine);
        add_rank(&t, &sent);
        sk_load_max(&t.load, &load);
        if (r == s->args.rank)
            t.shown = patterns[r];
        else
            sk_pattern_free(patterns[r]);
    }
    *out = t;
out:
    free(patterns);
    free(ranks);
    return st;
}

double sk_neighbor_price(const sk_neighbor_scene *s, const sk_load *load, int64_t bytes)
{
    return sk_price(&s->model, s->machine, load, s->distinct, bytes);
}
