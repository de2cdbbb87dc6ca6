/* patterns.c: graphs, machines and patterns of all ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/graph/spec.h"
#include "lab/neighbor/check.h"

void sk_patterns_free(sk_pattern **patterns, int n)
{
    for (int i = 0; i < n; i++) {
        sk_pattern_free(patterns[i]);
        patterns[i] = NULL;
    }
}

sk_status sk_patterns_by_plan(sk_method_id id, const sk_global_graph *g, const sk_machine *m,
                              const sk_pattern_opts *o, sk_pattern **out)
{
    int n = sk_global_graph_nranks(g);
    int *ranks = malloc((size_t)n * sizeof *ranks);
    if (!ranks)
        return SK_NOMEM;
    for (int r = 0; r < n; r++)
        ranks[r] = r;
    sk_status st = sk_method_get(id)->plan(g, m, o, ranks, n, out);
    free(ranks);
    return st;
}

static sk_status graph_of(const sk_global_graph *g, int rank, sk_graph **out)
{
    int nin = sk_global_graph_degree(g, rank, true), nout = sk_global_graph_degree(g, rank, false);
    int *list = malloc(((size_t)nin + (size_t)nout + 1) * sizeof *list);
    if (!list)
        return SK_NOMEM;
    sk_global_graph_sources(g, rank, list);
    sk_global_graph_targets(g, rank, list + nin);
    sk_status st =
        sk_graph_new(sk_global_graph_nranks(g), rank, nin, list, nout, list + nin, false, out);
    free(list);
    return st;
}

/* The k-th method of the mask; -1: there are fewer. */
static int method_of(unsigned methods, int k)
{
    for (int id = 0; id < SK_NMETHODS; id++)
        if (methods >> id & 1 && k-- == 0)
            return id;
    return -1;
}

static sk_status take_out(sk_negotiator **negotiators, int n, unsigned methods, sk_pattern **out)
{
    for (int r = 0; r < n; r++)
        for (int k = 0, id; (id = method_of(methods, k)) >= 0; k++)
            if (!negotiators[r]->made[id])
                return SK_BADARG;
    for (int r = 0; r < n; r++)
        for (int k = 0, id; (id = method_of(methods, k)) >= 0; k++) {
            out[k * n + r] = negotiators[r]->made[id];
            negotiators[r]->made[id] = NULL;
        }
    return SK_OK;
}

sk_status sk_patterns_by_negotiators(const sk_global_graph *g, sk_negotiator_maker make,
                                     const void *arg, unsigned methods, unsigned seed,
                                     sk_pattern **out, sk_channel_count *count)
{
    int n = sk_global_graph_nranks(g);
    sk_graph **graphs = calloc((size_t)n, sizeof(void *));
    sk_negotiator **negotiators = calloc((size_t)n, sizeof(void *));
    sk_status st = graphs && negotiators ? SK_OK : SK_NOMEM;
    for (int r = 0; r < n && st == SK_OK; r++) {
        st = graph_of(g, r, &graphs[r]);
        if (st == SK_OK && !(negotiators[r] = make(graphs[r], arg)))
            st = SK_NOMEM;
    }
    if (st == SK_OK)
        st = sk_negotiate_inproc(negotiators, n, seed, count);
    if (st == SK_OK)
        st = take_out(negotiators, n, methods, out);
    for (int r = 0; r < n && graphs && negotiators; r++) {
        sk_negotiator_free(negotiators[r]);
        sk_graph_free(graphs[r]);
    }
    free(graphs);
    free(negotiators);
    return st;
}

typedef struct by_method {
    sk_method_id id;
    const sk_machine *m;
    const sk_pattern_opts *o;
} by_method;

static sk_negotiator *make_by_method(const sk_graph *g, const void *arg)
{
    const by_method *by = arg;
    return sk_method_get(by->id)->negotiator(g, by->m, by->o);
}

sk_status sk_patterns_by_negotiation(sk_method_id id, const sk_global_graph *g, const sk_machine *m,
                                     const sk_pattern_opts *o, unsigned seed, sk_pattern **out,
                                     sk_channel_count *count)
{
    by_method by = {id, m, o};
    return sk_patterns_by_negotiators(g, make_by_method, &by, 1u << id, seed, out, count);
}

static bool edge(const char *word, int a, int b, int n)
{
    if (a == b)
        return false;
    if (!strcmp(word, "all"))
        return true;
    if (!strcmp(word, "ring"))
        return b == (a + 1) % n;
    if (!strcmp(word, "to-one"))
        return b == 0;
    if (!strcmp(word, "from-one"))
        return a == 0;
    if (!strcmp(word, "some"))
        return a % 3 != 2 && b % 3 != 2 && ((unsigned)a * 7919u + (unsigned)b * 104729u) % 97 < 29;
    return false; /* none */
}

static sk_global_graph *graph_by_edges(const char *word, int n)
{
    sk_global_graph *g = sk_global_graph_new(n, (int64_t)n * (n - 1));
    int *targets = malloc((size_t)n * sizeof *targets);
    sk_status st = g && targets ? SK_OK : SK_NOMEM;
    for (int a = 0; a < n && st == SK_OK; a++) {
        int k = 0;
        for (int b = 0; b < n; b++)
            if (edge(word, a, b, n))
                targets[k++] = b;
        st = sk_global_graph_add(g, a, targets, k);
    }
    if (st == SK_OK)
        st = sk_global_graph_freeze(g);
    free(targets);
    if (st != SK_OK) {
        fprintf(stderr, "graph %s: %s\n", word, sk_status_text(st));
        sk_global_graph_free(g);
        g = NULL;
    }
    return g;
}

sk_global_graph *sk_check_graph(const char *word, int nranks)
{
    if (!strchr(word, ':'))
        return graph_by_edges(word, nranks);
    char err[256] = "";
    sk_spec *s = NULL;
    sk_global_graph *g = NULL;
    sk_status st = sk_spec_new(word, nranks, &s, err, sizeof err);
    if (st == SK_OK)
        st = sk_spec_whole(s, &g);
    if (st != SK_OK)
        fprintf(stderr, "graph %s: %s %s\n", word, sk_status_text(st), err);
    sk_spec_free(s);
    return g;
}

sk_machine *sk_check_machine(const char *text, int nranks)
{
    char err[256] = "";
    sk_machine *m = NULL;
    if (sk_machine_parse(text, nranks, &m, err, sizeof err) != SK_OK)
        fprintf(stderr, "machine %s: %s\n", text, err);
    return m;
}
