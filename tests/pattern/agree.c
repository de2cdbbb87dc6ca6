/* agree.c: the two forms of a method, side by side. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define FAULT(...) (snprintf(why, size, __VA_ARGS__), true)

static bool negotiator_fault(sk_method_id id, const sk_global_graph *g, const sk_machine *m,
                             const sk_pattern_opts *o, unsigned seed, sk_pattern *const *plan,
                             char *why, size_t size)
{
    int n = sk_global_graph_nranks(g), other = -1;
    sk_pattern **by_negotiator = calloc((size_t)n, sizeof(*by_negotiator));
    sk_status st =
        by_negotiator ? patterns_by_negotiation(id, g, m, o, seed, by_negotiator, NULL) : SK_NOMEM;
    for (int r = 0; r < n && st == SK_OK; r++)
        if (other < 0 && !sk_pattern_equal(plan[r], by_negotiator[r]))
            other = r;
    if (by_negotiator)
        patterns_free(by_negotiator, n);
    free(by_negotiator);
    if (st != SK_OK)
        return FAULT("the negotiators with seed %u: %s", seed, sk_status_text(st));
    return other >= 0 &&
           FAULT("with seed %u rank %d has another pattern than planned", seed, other);
}

/* Every third rank, from the last: a plan for few must not differ from the plan for all. */
static bool part_fault(sk_method_id id, const sk_global_graph *g, const sk_machine *m,
                       const sk_pattern_opts *o, sk_pattern *const *plan, char *why, size_t size)
{
    int n = sk_global_graph_nranks(g), many = 0, other = -1;
    int *ranks = malloc((size_t)n * sizeof *ranks);
    sk_pattern **part = calloc((size_t)n, sizeof(*part));
    sk_status st = ranks && part ? SK_OK : SK_NOMEM;
    for (int r = n - 1; r >= 0 && st == SK_OK; r -= 3)
        ranks[many++] = r;
    if (st == SK_OK)
        st = sk_method_get(id)->plan(g, m, o, ranks, many, part);
    for (int i = 0; i < many && st == SK_OK; i++)
        if (other < 0 && !sk_pattern_equal(plan[ranks[i]], part[i]))
            other = ranks[i];
    if (part)
        patterns_free(part, many);
    free(part);
    free(ranks);
    if (st != SK_OK)
        return FAULT("the plan for some ranks: %s", sk_status_text(st));
    return other >= 0 && FAULT("the plan for some ranks is another one for %d", other);
}

bool method_fault(sk_method_id id, const char *graph, const char *machine, int nranks,
                  const sk_pattern_opts *o, unsigned nseeds, char *why, size_t size)
{
    sk_global_graph *g = check_graph(graph, nranks);
    sk_machine *m = check_machine(machine, nranks);
    sk_pattern **plan = calloc((size_t)nranks, sizeof(*plan));
    sk_status st = g && m && plan ? patterns_by_plan(id, g, m, o, plan) : SK_BADARG;
    bool fault = st != SK_OK && FAULT("the plan: %s", sk_status_text(st));
    if (!fault)
        fault = pattern_fault(g, plan, nranks, why, size);
    if (!fault)
        fault = part_fault(id, g, m, o, plan, why, size);
    for (unsigned seed = 0; seed < nseeds && !fault; seed++)
        fault = negotiator_fault(id, g, m, o, seed, plan, why, size);
    if (plan)
        patterns_free(plan, nranks);
    free(plan);
    sk_machine_free(m);
    sk_global_graph_free(g);
    return fault;
}
