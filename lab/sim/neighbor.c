/* neighbor.c: the schedules of all ranks of a neighbourhood collective, walked. */
#include "lab/sim/neighbor.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "coll/algo.h"
#include "lab/graph/spec.h"
#include "lab/neighbor/check.h"
#include "shm/shm.h"

/* Edges by level, and on how many nodes. */
static sk_status measure(sk_sim *s)
{
    int n = s->machine->nranks;
    sk_reach *reach = calloc((size_t)n, sizeof *reach);
    if (!reach)
        return SK_NOMEM;
    for (int r = 0; r < n; r++) {
        const sk_graph *g = s->graphs[r];
        reach[r] = sk_reach_of(g->targets, g->ntargets, s->machine, r);
        for (int i = 0; i < g->ntargets; i++)
            s->size.intra[sk_machine_level(s->machine, r, g->targets[i])]++;
        s->size.edges += g->ntargets;
    }
    s->size.most = s->most;
    sk_reach_sum(reach, s->machine, &s->size);
    free(reach);
    return SK_OK;
}

static sk_status make_graphs(sk_sim *s, const sk_spec *spec)
{
    int n = s->machine->nranks;
    s->graphs = calloc((size_t)n, sizeof(sk_graph *));
    s->idle = calloc((size_t)n, sizeof *s->idle);
    sk_status st = s->graphs && s->idle ? sk_spec_whole(spec, &s->graph) : SK_NOMEM;
    for (int r = 0; r < n && st == SK_OK; r++) {
        st = sk_spec_graph(spec, r, &s->graphs[r]);
        if (st != SK_OK)
            break;
        int in = s->graphs[r]->nsources, out = s->graphs[r]->ntargets, more = in > out ? in : out;
        s->idle[r] = more == 0;
        s->most = more > s->most ? more : s->most;
    }
    return st == SK_OK ? measure(s) : st;
}

sk_status sk_sim_new(const char *graph, const sk_machine *m, const sk_prices *p, sk_sim *out,
                     char *err, size_t size)
{
    enum { SHM = 1 << 30 }; /* SKEIN_SHM */
    sk_spec *spec = NULL;
    sk_sim s = {.machine = m,
                .prices = p,
                .coll = SK_NEIGHBOR_ALLGATHER,
                .slot_bytes = sk_shm_size_of(m->max_per_node, SHM).slot_bytes};
    snprintf(err, size, "out of memory");
    sk_status st = sk_spec_new(graph, m->nranks, &spec, err, size);
    if (st == SK_OK)
        st = make_graphs(&s, spec);
    sk_spec_free(spec);
    if (st == SK_OK)
        *out = s;
    else
        sk_sim_free(&s);
    return st;
}

void sk_sim_free(sk_sim *s)
{
    for (int r = 0; r < s->machine->nranks && s->graphs; r++)
        sk_graph_free(s->graphs[r]);
    free(s->graphs);
    free(s->idle);
    sk_global_graph_free(s->graph);
}

sk_status sk_sim_method_new(const sk_sim *s, sk_method_id id, const sk_pattern_opts *o,
                            sk_sim_method *out)
{
    int n = s->machine->nranks;
    sk_pattern_opts opts = *o;
    sk_sim_method m = {.id = id, .patterns = calloc((size_t)n, sizeof(sk_pattern *))};
    opts.idle = s->idle;
    if (!m.patterns)
        return SK_NOMEM;
    sk_status st = sk_patterns_by_plan(id, s->graph, s->machine, &opts, m.patterns);
    for (int r = 0; r < n && st == SK_OK; r++) {
        const sk_pattern_view *v = sk_pattern_view_get(m.patterns[r]);
        sk_load load = sk_load_of(m.patterns[r], s->machine);
        sk_load_join(&m.load, &load);
        for (size_t i = 0; i < v->nbundles; i++)
            m.off_node +=
                v->bundles[i].out && s->machine->node[v->bundles[i].peer] != s->machine->node[r];
    }
    if (st == SK_OK)
        *out = m;
    else
        sk_sim_method_free(s, &m);
    return st;
}

void sk_sim_method_free(const sk_sim *s, sk_sim_method *m)
{
    sk_patterns_free(m->patterns, s->machine->nranks);
    free(m->patterns);
    *m = (sk_sim_method){0};
}

/* ---- one call ---- */

typedef struct sim_call {
    const sk_sim *s;
    const sk_sim_method *m;
    const sk_algo *algo;
    int64_t bytes;
} sim_call;

static bool some_idle(const sk_sim *s)
{
    for (int r = 0; r < s->machine->nranks; r++)
        if (s->idle[r])
            return true;
    return false;
}

static sk_status build(const void *ctx, int rank, sk_sched **out)
{
    const sim_call *x = ctx;
    const sk_sim *s = x->s;
    sk_neighborhood n = {.base.graph = s->graphs[rank],
                         .machine = s->machine,
                         .parallel = 1,
                         .most = s->most,
                         .some_idle = some_idle(s)};
    n.pattern[x->m->id] = x->m->patterns[rank];
    n.load[x->m->id] = x->m->load;
    sk_side side = {.count = s->idle[rank] ? 0 : x->bytes};
    sk_call c = {.coll = s->coll,
                 .nranks = s->machine->nranks,
                 .rank = rank,
                 .send = side,
                 .recv = side,
                 .types = &sk_type_byte,
                 .ntypes = 1,
                 .neighborhood = &n.base,
                 .machine = s->machine,
                 .slot_bytes = s->slot_bytes,
                 .direct = true};
    return sk_algo_build(x->algo, &c, out);
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

sk_status sk_sim_schedule(const sk_sim *s, const sk_sim_method *m, int64_t bytes, double *ns)
{
    enum { SAMPLE = 64 }; /* ranks */
    sim_call x = {s, m, sk_algo_find(s->coll, sk_method_get(m->id)->name), bytes};
    int n = s->machine->nranks, ranks = n < SAMPLE ? n : SAMPLE;
    double since = cpu_ns();
    sk_status st = x.algo ? SK_OK : SK_BADARG;
    for (int i = 0; i < ranks && st == SK_OK; i++) {
        sk_sched *sched = NULL;
        st = build(&x, (int)((int64_t)i * n / ranks), &sched);
        sk_sched_free(sched);
    }
    *ns = (cpu_ns() - since) / ranks;
    return st;
}

sk_status sk_sim_call(const sk_sim *s, const sk_sim_method *m, int64_t bytes, sk_priced *out)
{
    sim_call x = {s, m, sk_algo_find(s->coll, sk_method_get(m->id)->name), bytes};
    sk_price_case k = {.prices = s->prices,
                       .machine = s->machine,
                       .nranks = s->machine->nranks,
                       .build = build,
                       .ctx = &x,
                       .all = true};
    return x.algo ? sk_price_call(&k, out) : SK_BADARG;
}
