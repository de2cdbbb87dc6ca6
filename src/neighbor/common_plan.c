/* common_plan.c: the iterations of Algorithm 1, level by level, for all ranks at once. */
#include "neighbor/common_plan.h"

#include <stdlib.h>

/* ---- an iteration ---- */

static bool find_friends(sk_common_plan *s)
{
    bool any = false;
    for (int p = 0; p < s->n; p++) {
        s->looks[p] = s->looks[p] && sk_matrix_count(s->matrix[p], s->rules.theta);
        any |= s->looks[p];
    }
    return any;
}

static void exchange(sk_common_plan *s, int p, int stage)
{
    const sk_circle *c = &s->circle[p];
    sk_circle_exchange(c, s->matrix[p], stage, s->want[p]);
    for (int k = 1; k < sk_circle_size(c); k++)
        if (sk_matrix_row(s->matrix[c->member[k]], p) >= 0)
            sk_holder_recv(sk_holds_find(&s->holds[p], c->member[k]), stage, c->member[k], p,
                           s->want[p]);
}

/* Rank p is no longer active for a target. */
static void drop(sk_common_plan *s, int target, int p)
{
    const sk_holds *h = &s->holds[target];
    if (s->columns)
        sk_bits_cut(s->columns + (size_t)target * (size_t)sk_bits_words(s->n), p);
    for (int i = 0; i < h->n && !s->columns; i++)
        sk_matrix_drop(s->matrix[h->holder[i].rank], target, p);
}

static sk_status apply(sk_common_plan *s, int p)
{
    sk_matrix *m = s->matrix[p];
    const sk_circle *c = &s->circle[p];
    sk_status st = SK_OK;
    for (int i = 0; i < m->nrows && st == SK_OK; i++) {
        int d = m->target[i];
        if (m->fate[i] == SK_STAYS)
            continue;
        drop(s, d, p);
        if (m->fate[i] != p || !(s->again || s->want[p] || s->want[d]))
            continue; /* nobody asks for this bundle */
        s->onload[p][s->nonloads[p]++] = d;
        st = sk_holds_join(&s->next[d], s->later, p, m->holds[i], c->member, c->size[m->depth[i]]);
    }
    sk_matrix_settle(m);
    return st;
}

static sk_status iterate(sk_common_plan *s, int stage, int iteration)
{
    sk_status st = SK_OK;
    sk_common_pair(s, iteration);
    for (int p = 0; p < s->n; p++)
        if (s->looks[p])
            sk_circle_divide(&s->circle[p], s->matrix[p]);
    for (int p = 0; p < s->n; p++)
        if (s->looks[p] && s->want[p])
            exchange(s, p, stage);
    for (int p = 0; p < s->n && st == SK_OK; p++)
        if (s->looks[p])
            st = apply(s, p);
    return st;
}

/* ---- levels ---- */

/* What was not combined in this level goes to its targets now. */
static void deliver(sk_common_plan *s, int stage)
{
    for (int p = 0; p < s->n; p++) {
        if (!s->want[p])
            continue;
        sk_matrix_deliver(s->matrix[p], stage, s->want[p]);
        for (int i = 0; i < s->holds[p].n; i++) {
            const sk_holder *b = &s->holds[p].holder[i];
            if (sk_matrix_row(s->matrix[b->rank], p) >= 0)
                sk_holder_recv(b, stage, b->rank, p, s->want[p]);
        }
    }
}

static void go_on(sk_common_plan *s)
{
    sk_arena_free(s->arena);
    s->arena = s->later;
    s->later = NULL;
    s->holds = s->next;
    s->target = s->onload;
    s->ntargets = s->nonloads;
    for (int p = 0; p < s->n; p++) {
        sk_holds_sort(&s->holds[p]);
        sk_ranks_sort(s->target[p], s->ntargets[p]);
    }
}

static sk_status run_levels(sk_common_plan *s)
{
    sk_status st = SK_OK;
    for (int level = 0; level <= s->rules.levels && st == SK_OK; level++) {
        bool last = level == s->rules.levels;
        s->again = level + 1 < s->rules.levels;
        st = sk_common_plan_room(s);
        if (st == SK_OK && !last)
            st = sk_common_plan_bits(s);
        for (int i = 0; st == SK_OK && !last && find_friends(s); i++)
            st = iterate(s, level, i);
        if (st != SK_OK)
            break;
        deliver(s, level);
        go_on(s);
    }
    return st;
}

static sk_status first_level(sk_common_plan *s, const sk_global_graph *g)
{
    size_t n = (size_t)s->n;
    s->arena = sk_arena_new();
    if (!s->arena)
        return SK_NOMEM;
    s->holds = sk_arena_get(s->arena, n * sizeof *s->holds);
    s->target = sk_arena_get(s->arena, n * sizeof(*s->target));
    s->ntargets = sk_arena_get(s->arena, n * sizeof *s->ntargets);
    sk_status st = s->holds && s->target && s->ntargets ? SK_OK : SK_NOMEM;
    for (int p = 0; p < s->n && st == SK_OK; p++) {
        int in = sk_global_graph_degree(g, p, true), out = sk_global_graph_degree(g, p, false);
        int *source = sk_arena_get(s->arena, (size_t)in * sizeof *source);
        s->target[p] = sk_arena_get(s->arena, (size_t)out * sizeof(int));
        if (!source || !s->target[p])
            return SK_NOMEM;
        s->ntargets[p] = out;
        sk_global_graph_targets(g, p, s->target[p]);
        sk_global_graph_sources(g, p, source);
        st = sk_holds_first(&s->holds[p], s->arena, source, in);
    }
    return st;
}

sk_status sk_common_plan_make(const sk_global_graph *g, const sk_machine *m,
                              const sk_pattern_opts *o, const int *ranks, int n, sk_pattern **out)
{
    (void)m;
    sk_common_plan s = {.n = sk_global_graph_nranks(g), .rules = sk_rules_of(o)};
    s.want = calloc((size_t)s.n, sizeof(sk_pattern *));
    sk_status st = s.want ? SK_OK : SK_NOMEM;
    for (int i = 0; i < n && st == SK_OK; i++)
        if (!(s.want[ranks[i]] = sk_pattern_new(s.n, ranks[i])))
            st = SK_NOMEM;
    if (st == SK_OK)
        st = first_level(&s, g);
    if (st == SK_OK)
        st = run_levels(&s);
    for (int i = 0; i < n && st == SK_OK; i++)
        st = sk_pattern_freeze(s.want[ranks[i]]);
    for (int i = 0; i < n && s.want; i++) {
        if (st == SK_OK)
            out[i] = s.want[ranks[i]];
        else
            sk_pattern_free(s.want[ranks[i]]);
    }
    sk_arena_free(s.arena);
    sk_arena_free(s.later);
    free(s.want);
    return st;
}
