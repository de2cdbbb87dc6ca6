/* plan.c: distance halving from the global graph. The path of every block is followed, but only the
 * patterns that are asked for are recorded.
 *
 * A rank holds either all blocks that a source has for the rank's present group, or none of them, since
 * the agent gets all that is for its half. So what ranks hold are slices of the sources' sorted lists of
 * targets, and a step cuts each slice in two. */
#include <stdlib.h>
#include <string.h>

#include "neighbor/method/halving/halving.h"

typedef struct target_slice { /* the blocks of a source for its targets hg.out[from] to [to - 1] */
    int64_t from, to;
    int src;
    int next; /* of the same holder; -1: the last */
} target_slice;

typedef struct halving_plan {
    sk_halving_rules rules;
    sk_halving_graph hg;
    sk_agent_matching *match;
    sk_pattern **wanted;   /* by position; NULL: not wanted */
    int *agent;            /* by position, in this step; -1: none */
    int *head, *next_head; /* by position: slices held now, and after this step; -1: none */
    target_slice *slices;
    int nslices, cap;
    sk_socket_range *groups;
    int ngroups;
} halving_plan;

static sk_status hold(halving_plan *p, int *list, int src, int64_t from, int64_t to)
{
    if (from == to)
        return SK_OK;
    if (p->nslices == p->cap) {
        int cap = 2 * p->cap + 64;
        target_slice *at = realloc(p->slices, (size_t)cap * sizeof *at);
        if (!at)
            return SK_NOMEM;
        p->slices = at;
        p->cap = cap;
    }
    p->slices[p->nslices] = (target_slice){from, to, src, *list};
    *list = p->nslices++;
    return SK_OK;
}

/* A block is sent from position a to position b. */
static void record(halving_plan *p, int stage, int a, int b, int src, int dst)
{
    const int *rank = p->rules.machine->rank_at;
    if (p->wanted[a])
        sk_pattern_send(p->wanted[a], stage, rank[b], rank[src], rank[dst]);
    if (p->wanted[b])
        sk_pattern_recv(p->wanted[b], stage, rank[a], rank[src], rank[dst]);
}

static bool holds_any(const halving_plan *p, int a, sk_half half)
{
    for (int i = p->head[a]; i >= 0; i = p->slices[i].next) {
        const target_slice *s = &p->slices[i];
        int64_t k = sk_halving_graph_find(&p->hg, s->from, s->to, half.lo);
        if (k < s->to && p->hg.out[k] < half.hi)
            return true;
    }
    return false;
}

static sk_status hand_over(halving_plan *p, int step, int a, sk_half mine, sk_half other)
{
    bool below = mine.lo < other.lo;
    sk_status st = SK_OK;
    for (int i = p->head[a]; i >= 0 && st == SK_OK; i = p->slices[i].next) {
        target_slice s = p->slices[i], keep = s, give = s;
        int64_t cut = sk_halving_graph_find(&p->hg, s.from, s.to, below ? other.lo : mine.lo);
        *(below ? &keep.to : &keep.from) = cut;
        *(below ? &give.from : &give.to) = cut;
        st = hold(p, &p->next_head[a], s.src, keep.from, keep.to);
        if (st == SK_OK && give.from < give.to) {
            int b = p->agent[a];
            st = hold(p, &p->next_head[b], s.src, give.from, give.to);
            for (int64_t k = give.from; k < give.to && (p->wanted[a] || p->wanted[b]); k++)
                record(p, step, a, b, s.src, p->hg.out[k]);
        }
    }
    return st;
}

static sk_status step_one_way(halving_plan *p, int step, sk_half mine, sk_half other)
{
    sk_status st = SK_OK;
    sk_agent_matching_run(p->match, mine, other, p->agent);
    for (int a = mine.lo; a < mine.hi && st == SK_OK; a++) {
        if (p->agent[a] < 0 && holds_any(p, a, other))
            p->agent[a] = sk_halving_mirror(&p->rules, mine, other, a);
        st = hand_over(p, step, a, mine, other);
    }
    return st;
}

static sk_status step_group(halving_plan *p, int step, sk_socket_range low, sk_socket_range up)
{
    sk_half lower = sk_socket_range_positions(p->rules.machine, low);
    sk_half upper = sk_socket_range_positions(p->rules.machine, up);
    size_t bytes = (size_t)(upper.hi - lower.lo) * sizeof *p->head;
    memset(&p->next_head[lower.lo], -1, bytes);
    sk_status st = step_one_way(p, step, lower, upper);
    if (st == SK_OK)
        st = step_one_way(p, step, upper, lower);
    memcpy(&p->head[lower.lo], &p->next_head[lower.lo], bytes);
    return st;
}

/* All groups of a step; their halves are the groups of the next. */
static sk_status step_all(halving_plan *p, int step)
{
    const sk_machine *m = p->rules.machine;
    int n = p->ngroups;
    sk_status st = SK_OK;
    for (int i = 0; i < n && st == SK_OK; i++) {
        sk_socket_range g = p->groups[i];
        if (g.last - g.first == 1)
            continue;
        int cut = sk_socket_range_cut(m, g);
        sk_socket_range lower = {g.first, cut}, upper = {cut, g.last};
        p->groups[i] = lower;
        p->groups[p->ngroups++] = upper;
        st = step_group(p, step, lower, upper);
    }
    return st;
}

static void step_in_socket(halving_plan *p)
{
    for (int a = 0; a < p->rules.machine->nranks; a++)
        for (int i = p->head[a]; i >= 0; i = p->slices[i].next)
            for (int64_t k = p->slices[i].from; k < p->slices[i].to; k++)
                if (p->hg.out[k] != a)
                    record(p, p->rules.steps, a, p->hg.out[k], p->slices[i].src, p->hg.out[k]);
}

static sk_status follow(halving_plan *p)
{
    const sk_machine *m = p->rules.machine;
    sk_status st = SK_OK;
    p->groups[p->ngroups++] = (sk_socket_range){0, m->nsockets};
    for (int a = 0; a < m->nranks && st == SK_OK; a++) {
        p->head[a] = -1;
        st = hold(p, &p->head[a], a, p->hg.out_first[a], p->hg.out_first[a + 1]);
    }
    for (int step = 0; step < p->rules.steps && st == SK_OK; step++)
        st = step_all(p, step);
    if (st == SK_OK)
        step_in_socket(p);
    return st;
}

static sk_status plan_init(halving_plan *p, const sk_global_graph *g, const sk_machine *m,
                           const bool *idle)
{
    size_t n = (size_t)m->nranks;
    p->wanted = calloc(n, sizeof(sk_pattern *));
    p->agent = malloc(n * sizeof *p->agent);
    p->head = malloc(n * sizeof *p->head);
    p->next_head = malloc(n * sizeof *p->next_head);
    p->groups = malloc((size_t)m->nsockets * sizeof *p->groups);
    if (!p->wanted || !p->agent || !p->head || !p->next_head || !p->groups)
        return SK_NOMEM;
    sk_status st = sk_halving_rules_init(&p->rules, m, idle);
    if (st == SK_OK)
        st = sk_halving_graph_init(&p->hg, g, m);
    if (st == SK_OK && !(p->match = sk_agent_matching_new(&p->hg)))
        st = SK_NOMEM;
    return st;
}

static void plan_free(halving_plan *p)
{
    sk_agent_matching_free(p->match);
    sk_halving_graph_free(&p->hg);
    sk_halving_rules_free(&p->rules);
    free(p->wanted);
    free(p->agent);
    free(p->head);
    free(p->next_head);
    free(p->slices);
    free(p->groups);
}

sk_status sk_halving_plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                          const int *ranks, int n, sk_pattern **out)
{
    halving_plan p = {0};
    int made = 0;
    sk_pattern **patterns = calloc((size_t)n + 1, sizeof(sk_pattern *));
    sk_status st = patterns ? plan_init(&p, g, m, o->idle) : SK_NOMEM;
    for (; made < n && st == SK_OK; made++) {
        patterns[made] = sk_pattern_new(m->nranks, ranks[made]);
        p.wanted[m->position[ranks[made]]] = patterns[made];
        st = patterns[made] ? SK_OK : SK_NOMEM;
    }
    if (st == SK_OK)
        st = follow(&p);
    for (int i = 0; i < n && st == SK_OK; i++)
        st = sk_pattern_freeze(patterns[i]);
    for (int i = 0; i < made; i++)
        if (st == SK_OK)
            out[i] = patterns[i];
        else
            sk_pattern_free(patterns[i]);
    plan_free(&p);
    free(patterns);
    return st;
}
