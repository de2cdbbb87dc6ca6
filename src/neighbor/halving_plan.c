/* halving_plan.c: distance halving from the whole graph: the way of every block is followed, but
 * only the patterns that are asked for are written down.
 *
 * A rank always holds all that a source has for the rank's present group, or nothing of it: the
 * agent gets all that is for its half. So what ranks hold are slices of the sources' sorted lists
 * of targets, and a step cuts each slice in two. */
#include <stdlib.h>
#include <string.h>

#include "neighbor/halving_form.h"
#include "neighbor/halving_match.h"

typedef struct slice { /* what the holder has of a source: its targets near.out[from] ... */
    int64_t from, to;
    int src;
    int next; /* of the same holder; -1: the last */
} slice;

typedef struct plan {
    sk_halving rules;
    sk_near near;
    sk_match *match;
    sk_pattern **want; /* by place; NULL: not asked for */
    int *agent;        /* by place, in this step; -1: none */
    int *head, *later; /* by place: slices held now, and after this step; -1: none */
    slice *slices;
    int nslices, cap;
    sk_group *groups;
    int ngroups;
} plan;

static sk_status hold(plan *p, int *list, int src, int64_t from, int64_t to)
{
    if (from == to)
        return SK_OK;
    if (p->nslices == p->cap) {
        int cap = 2 * p->cap + 64;
        slice *at = realloc(p->slices, (size_t)cap * sizeof *at);
        if (!at)
            return SK_NOMEM;
        p->slices = at;
        p->cap = cap;
    }
    p->slices[p->nslices] = (slice){from, to, src, *list};
    *list = p->nslices++;
    return SK_OK;
}

/* A block travels from place a to place b. */
static void write_down(plan *p, int stage, int a, int b, int src, int dst)
{
    const int *rank = p->rules.machine->order;
    if (p->want[a])
        sk_pattern_send(p->want[a], stage, rank[b], rank[src], rank[dst]);
    if (p->want[b])
        sk_pattern_recv(p->want[b], stage, rank[a], rank[src], rank[dst]);
}

static bool holds_any(const plan *p, int a, sk_half half)
{
    for (int i = p->head[a]; i >= 0; i = p->slices[i].next) {
        const slice *s = &p->slices[i];
        int64_t k = sk_near_find(&p->near, s->from, s->to, half.lo);
        if (k < s->to && p->near.out[k] < half.hi)
            return true;
    }
    return false;
}

static sk_status hand_over(plan *p, int step, int a, sk_half mine, sk_half other)
{
    bool below = mine.lo < other.lo;
    sk_status st = SK_OK;
    for (int i = p->head[a]; i >= 0 && st == SK_OK; i = p->slices[i].next) {
        slice s = p->slices[i], keep = s, give = s;
        int64_t cut = sk_near_find(&p->near, s.from, s.to, below ? other.lo : mine.lo);
        *(below ? &keep.to : &keep.from) = cut;
        *(below ? &give.from : &give.to) = cut;
        st = hold(p, &p->later[a], s.src, keep.from, keep.to);
        if (st == SK_OK && give.from < give.to) {
            int b = p->agent[a];
            st = hold(p, &p->later[b], s.src, give.from, give.to);
            for (int64_t k = give.from; k < give.to && (p->want[a] || p->want[b]); k++)
                write_down(p, step, a, b, s.src, p->near.out[k]);
        }
    }
    return st;
}

static sk_status step_one_way(plan *p, int step, sk_half mine, sk_half other)
{
    sk_status st = SK_OK;
    sk_match_agents(p->match, mine, other, p->agent);
    for (int a = mine.lo; a < mine.hi && st == SK_OK; a++) {
        if (p->agent[a] < 0 && holds_any(p, a, other))
            p->agent[a] = sk_halving_mirror(&p->rules, mine, other, a);
        st = hand_over(p, step, a, mine, other);
    }
    return st;
}

static sk_status step_group(plan *p, int step, sk_group low, sk_group up)
{
    sk_half lower = sk_group_places(p->rules.machine, low);
    sk_half upper = sk_group_places(p->rules.machine, up);
    size_t bytes = (size_t)(upper.hi - lower.lo) * sizeof *p->head;
    memset(&p->later[lower.lo], -1, bytes);
    sk_status st = step_one_way(p, step, lower, upper);
    if (st == SK_OK)
        st = step_one_way(p, step, upper, lower);
    memcpy(&p->head[lower.lo], &p->later[lower.lo], bytes);
    return st;
}

/* All groups of a step; their halves are the groups of the next. */
static sk_status step_all(plan *p, int step)
{
    const sk_machine *m = p->rules.machine;
    int n = p->ngroups;
    sk_status st = SK_OK;
    for (int i = 0; i < n && st == SK_OK; i++) {
        sk_group g = p->groups[i];
        if (g.last - g.first == 1)
            continue;
        int cut = sk_group_cut(m, g);
        sk_group lower = {g.first, cut}, upper = {cut, g.last};
        p->groups[i] = lower;
        p->groups[p->ngroups++] = upper;
        st = step_group(p, step, lower, upper);
    }
    return st;
}

static void step_in_socket(plan *p)
{
    for (int a = 0; a < p->rules.machine->nranks; a++)
        for (int i = p->head[a]; i >= 0; i = p->slices[i].next)
            for (int64_t k = p->slices[i].from; k < p->slices[i].to; k++)
                if (p->near.out[k] != a)
                    write_down(p, p->rules.steps, a, p->near.out[k], p->slices[i].src,
                               p->near.out[k]);
}

static sk_status follow(plan *p)
{
    const sk_machine *m = p->rules.machine;
    sk_status st = SK_OK;
    p->groups[p->ngroups++] = (sk_group){0, m->nsockets};
    for (int a = 0; a < m->nranks && st == SK_OK; a++) {
        p->head[a] = -1;
        st = hold(p, &p->head[a], a, p->near.out_first[a], p->near.out_first[a + 1]);
    }
    for (int step = 0; step < p->rules.steps && st == SK_OK; step++)
        st = step_all(p, step);
    if (st == SK_OK)
        step_in_socket(p);
    return st;
}

static sk_status plan_init(plan *p, const sk_global_graph *g, const sk_machine *m, const bool *idle)
{
    size_t n = (size_t)m->nranks;
    p->want = calloc(n, sizeof(sk_pattern *));
    p->agent = malloc(n * sizeof *p->agent);
    p->head = malloc(n * sizeof *p->head);
    p->later = malloc(n * sizeof *p->later);
    p->groups = malloc((size_t)m->nsockets * sizeof *p->groups);
    if (!p->want || !p->agent || !p->head || !p->later || !p->groups)
        return SK_NOMEM;
    sk_status st = sk_halving_init(&p->rules, m, idle);
    if (st == SK_OK)
        st = sk_near_init(&p->near, g, m);
    if (st == SK_OK && !(p->match = sk_match_new(&p->near)))
        st = SK_NOMEM;
    return st;
}

static void plan_free(plan *p)
{
    sk_match_free(p->match);
    sk_near_free(&p->near);
    sk_halving_free(&p->rules);
    free(p->want);
    free(p->agent);
    free(p->head);
    free(p->later);
    free(p->slices);
    free(p->groups);
}

sk_status sk_halving_plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                          const int *ranks, int n, sk_pattern **out)
{
    plan p = {0};
    int made = 0;
    sk_pattern **patterns = calloc((size_t)n + 1, sizeof(sk_pattern *));
    sk_status st = patterns ? plan_init(&p, g, m, o->idle) : SK_NOMEM;
    for (; made < n && st == SK_OK; made++) {
        patterns[made] = sk_pattern_new(m->nranks, ranks[made]);
        p.want[m->place[ranks[made]]] = patterns[made];
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
