/* plan.c: the iterations of Algorithm 1, level by level, for all ranks at once. */
#include <stdlib.h>
#include <string.h>

#include "neighbor/method/common/common.h"

typedef struct common_plan_state {
    int n;
    sk_friend_rules rules;
    sk_pattern **wanted; /* by rank; NULL: not wanted */

    sk_arena *arena;         /* memory of this level, for the following arrays, which are by rank */
    sk_holder_list *holders; /* who holds blocks for it */
    int **target;            /* for whom it holds blocks, ascending */
    int *ntargets;
    sk_common_matrix **matrix;
    bool *active; /* it still has friends */
    sk_friend_search *search;
    sk_friend_group *group;
    uint64_t *columns; /* bits that the matrices share; NULL: each has its own */
    int *leaders;      /* leaders of groups that are searching */
    int nleaders;
    uint64_t *removed; /* ranks that stopped searching in this try */
    bool more_levels;  /* blocks combined in this level are combined again */

    sk_arena *next_arena; /* the same of the next level */
    sk_holder_list *next;
    int **onload;
    int *nonloads;
} common_plan_state;

/* ---- memory of a level ---- */

/* Do bits shared by all matrices take less memory than bits of each, which leave out the ranks that
 * cannot become friends? */
static bool shared_is_smaller(const common_plan_state *s)
{
    int64_t words = sk_bits_words(s->n), own = 0, shared = words * s->n;
    for (int p = 0; p < s->n; p++) {
        int64_t others = 0, more = sk_bit_planes_for(s->ntargets[p]) + 4;
        for (int i = 0; i < s->ntargets[p]; i++)
            others += s->holders[s->target[p][i]].n;
        others /= s->rules.theta;
        own += (s->ntargets[p] + more) * sk_bits_words((int)(others < s->n ? others : s->n));
        shared += more * words;
    }
    return shared <= own;
}

static sk_status make_columns(common_plan_state *s)
{
    size_t words = (size_t)sk_bits_words(s->n);
    s->columns = sk_arena_get(s->arena, words * (size_t)s->n * sizeof *s->columns);
    if (!s->columns)
        return SK_NOMEM;
    for (int d = 0; d < s->n; d++)
        for (int i = 0; i < s->holders[d].n; i++)
            sk_bits_add(s->columns + (size_t)d * words, s->holders[d].holder[i].rank);
    return SK_OK;
}

static sk_status fill_matrices(common_plan_state *s)
{
    sk_status st = SK_OK;
    int *count = NULL;
    s->columns = NULL;
    if (shared_is_smaller(s))
        st = make_columns(s);
    else if (!(count = calloc((size_t)s->n, sizeof *count)))
        st = SK_NOMEM;
    for (int p = 0; p < s->n && st == SK_OK; p++) {
        st = s->columns ? sk_common_matrix_fill_shared(s->matrix[p], s->arena, s->n, s->columns)
                        : sk_common_matrix_fill_own(s->matrix[p], s->arena, s->rules.theta, count);
        if (st == SK_OK)
            st = sk_friend_search_init(&s->search[p], s->arena, s->matrix[p]);
    }
    free(count);
    return st;
}

/* All but the bits of the matrices. */
static sk_status init_level(common_plan_state *s)
{
    size_t n = (size_t)s->n;
    s->next_arena = sk_arena_new();
    s->matrix = sk_arena_get(s->arena, n * sizeof(sk_common_matrix *));
    s->active = sk_arena_get(s->arena, n * sizeof *s->active);
    s->search = sk_arena_get(s->arena, n * sizeof *s->search);
    s->group = sk_arena_get(s->arena, n * sizeof *s->group);
    s->leaders = sk_arena_get(s->arena, n * sizeof *s->leaders);
    s->removed = sk_arena_get(s->arena, (size_t)sk_bits_words(s->n) * sizeof *s->removed);
    if (!s->next_arena || !s->matrix || !s->active || !s->search || !s->group || !s->leaders ||
        !s->removed)
        return SK_NOMEM;
    s->next = sk_arena_get(s->next_arena, n * sizeof *s->next);
    s->onload = sk_arena_get(s->next_arena, n * sizeof(*s->onload));
    s->nonloads = sk_arena_get(s->next_arena, n * sizeof *s->nonloads);
    if (!s->next || !s->onload || !s->nonloads)
        return SK_NOMEM;
    sk_status st = SK_OK;
    for (int p = 0; p < s->n && st == SK_OK; p++) {
        s->onload[p] = sk_arena_get(s->next_arena, (size_t)s->ntargets[p] * sizeof(int));
        s->matrix[p] = sk_common_matrix_new(s->arena, p, s->target[p], s->ntargets[p], s->holders);
        s->active[p] = s->ntargets[p] > 0;
        st = s->onload[p] && s->matrix[p]
                 ? sk_holder_list_reserve(&s->next[p], s->next_arena, s->holders[p].n)
                 : SK_NOMEM;
        if (st == SK_OK)
            st = sk_friend_group_init(&s->group[p], s->arena, &s->rules, p);
    }
    return st;
}

/* ---- pairing: Algorithm 2 for all ranks at once ----
 *
 * The tries are made one after the other. In each, all ranks choose, all hear, and all remove the ranks
 * that stopped searching. */

/* Makes the leaders of groups eligible that p's group could join. */
static void offer_groups(common_plan_state *s, int p)
{
    sk_common_matrix *m = s->matrix[p];
    int common = sk_friend_group_count_common(&s->group[p], m);
    for (int i = sk_bits_next(m->friends, m->words, 0); i >= 0;
         i = sk_bits_next(m->friends, m->words, i + 1)) {
        int q = sk_common_matrix_rank(m, i);
        const sk_friend_group *c = &s->group[q];
        if (c->leader == q)
            sk_friend_group_offer(&s->rules, &s->group[p], m, common, i, c->member,
                                  sk_friend_group_size(c));
    }
}

static void begin(common_plan_state *s, int round, int iteration)
{
    s->nleaders = 0;
    for (int p = 0; p < s->n; p++) {
        if (!s->active[p] || s->group[p].leader != p)
            continue;
        if (round == 0)
            sk_friend_group_offer_first(&s->rules, s->matrix[p], iteration);
        else
            offer_groups(s, p);
        sk_friend_search_begin(&s->search[p]);
        s->leaders[s->nleaders++] = p;
    }
}

static int choice_of(const common_plan_state *s, int p)
{
    return sk_common_matrix_rank(s->matrix[p], s->search[p].choice);
}

static void try_once(common_plan_state *s)
{
    for (int i = 0; i < s->nleaders; i++)
        sk_friend_search_choose(&s->search[s->leaders[i]]);
    for (int i = 0; i < s->nleaders; i++) {
        int p = s->leaders[i], q = s->search[p].terminal ? -1 : choice_of(s, p);
        if (q >= 0)
            sk_friend_search_chosen_by(&s->search[q], sk_common_matrix_column(s->matrix[q], p));
    }
    memset(s->removed, 0, (size_t)sk_bits_words(s->n) * sizeof *s->removed);
    int left = 0;
    for (int i = 0; i < s->nleaders; i++) {
        int p = s->leaders[i];
        if (s->search[p].paired || s->search[p].terminal)
            sk_bits_add(s->removed, p);
        else
            s->leaders[left++] = p;
    }
    s->nleaders = left;
    for (int i = 0; i < left; i++)
        sk_friend_search_remove_all(&s->search[s->leaders[i]], s->removed);
}

/* The groups of p and q join. The list of a group only grows at its end. */
static void join(common_plan_state *s, int p, int q)
{
    int a = sk_friend_group_size(&s->group[p]), b = sk_friend_group_size(&s->group[q]);
    for (int i = 1; i < a; i++)
        sk_friend_group_join(&s->group[s->group[p].member[i]], s->group[q].member, b);
    for (int i = 1; i < b; i++)
        sk_friend_group_join(&s->group[s->group[q].member[i]], s->group[p].member, a);
    sk_friend_group_join(&s->group[p], s->group[q].member, b);
    sk_friend_group_join(&s->group[q], s->group[p].member, a);
}

/* All rounds of one iteration. */
static void pair_friends(common_plan_state *s, int iteration)
{
    for (int p = 0; p < s->n; p++)
        if (s->active[p])
            sk_friend_group_reset(&s->group[p]);
    for (int round = 0; round < s->rules.rounds; round++) {
        begin(s, round, iteration);
        for (int i = 0; i < SK_MAX_TRIES && s->nleaders; i++)
            try_once(s);
        for (int p = 0; p < s->n; p++)
            s->leaders[p] = -1;
        for (int p = 0; p < s->n; p++)
            if (s->active[p] && s->group[p].leader == p && s->search[p].paired)
                s->leaders[p] = choice_of(s, p);
        for (int p = 0; p < s->n; p++)
            if (s->leaders[p] > p)
                join(s, p, s->leaders[p]);
    }
}

/* ---- an iteration ---- */

static bool find_friends(common_plan_state *s)
{
    bool any = false;
    for (int p = 0; p < s->n; p++) {
        s->active[p] = s->active[p] && sk_common_matrix_count(s->matrix[p], s->rules.theta);
        any |= s->active[p];
    }
    return any;
}

static void exchange(common_plan_state *s, int p, int stage)
{
    const sk_friend_group *c = &s->group[p];
    sk_friend_group_exchange(c, s->matrix[p], stage, s->wanted[p]);
    for (int k = 1; k < sk_friend_group_size(c); k++)
        if (sk_common_matrix_row(s->matrix[c->member[k]], p) >= 0)
            sk_holder_recv(sk_holder_list_find(&s->holders[p], c->member[k]), stage, c->member[k],
                           p, s->wanted[p]);
}

/* Rank p is no longer active for a target. */
static void drop(common_plan_state *s, int target, int p)
{
    const sk_holder_list *h = &s->holders[target];
    if (s->columns)
        sk_bits_remove(s->columns + (size_t)target * (size_t)sk_bits_words(s->n), p);
    for (int i = 0; i < h->n && !s->columns; i++)
        sk_common_matrix_drop(s->matrix[h->holder[i].rank], target, p);
}

static sk_status apply(common_plan_state *s, int p)
{
    sk_common_matrix *m = s->matrix[p];
    const sk_friend_group *c = &s->group[p];
    sk_status st = SK_OK;
    for (int i = 0; i < m->nrows && st == SK_OK; i++) {
        int d = m->target[i];
        if (m->carrier[i] == SK_NOT_COMBINED)
            continue;
        drop(s, d, p);
        if (m->carrier[i] != p || !(s->more_levels || s->wanted[p] || s->wanted[d]))
            continue; /* no wanted pattern needs these blocks */
        s->onload[p][s->nonloads[p]++] = d;
        st = sk_holder_list_combine(&s->next[d], s->next_arena, p, m->holders[i], c->member,
                                    c->size[m->depth[i]]);
    }
    sk_common_matrix_compact(m);
    return st;
}

static sk_status iterate(common_plan_state *s, int stage, int iteration)
{
    sk_status st = SK_OK;
    pair_friends(s, iteration);
    for (int p = 0; p < s->n; p++)
        if (s->active[p])
            sk_friend_group_divide(&s->group[p], s->matrix[p]);
    for (int p = 0; p < s->n; p++)
        if (s->active[p] && s->wanted[p])
            exchange(s, p, stage);
    for (int p = 0; p < s->n && st == SK_OK; p++)
        if (s->active[p])
            st = apply(s, p);
    return st;
}

/* ---- levels ---- */

/* Blocks that were not combined in this level are sent to their targets. */
static void deliver(common_plan_state *s, int stage)
{
    for (int p = 0; p < s->n; p++) {
        if (!s->wanted[p])
            continue;
        sk_common_matrix_deliver(s->matrix[p], stage, s->wanted[p]);
        for (int i = 0; i < s->holders[p].n; i++) {
            const sk_holder *b = &s->holders[p].holder[i];
            if (sk_common_matrix_row(s->matrix[b->rank], p) >= 0)
                sk_holder_recv(b, stage, b->rank, p, s->wanted[p]);
        }
    }
}

static void next_level(common_plan_state *s)
{
    sk_arena_free(s->arena);
    s->arena = s->next_arena;
    s->next_arena = NULL;
    s->holders = s->next;
    s->target = s->onload;
    s->ntargets = s->nonloads;
    for (int p = 0; p < s->n; p++) {
        sk_holder_list_sort(&s->holders[p]);
        sk_sort_ranks(s->target[p], s->ntargets[p]);
    }
}

static sk_status run_levels(common_plan_state *s)
{
    sk_status st = SK_OK;
    for (int level = 0; level <= s->rules.levels && st == SK_OK; level++) {
        bool last = level == s->rules.levels;
        s->more_levels = level + 1 < s->rules.levels;
        st = init_level(s);
        if (st == SK_OK && !last)
            st = fill_matrices(s);
        for (int i = 0; st == SK_OK && !last && find_friends(s); i++)
            st = iterate(s, level, i);
        if (st != SK_OK)
            break;
        deliver(s, level);
        next_level(s);
    }
    return st;
}

static sk_status first_level(common_plan_state *s, const sk_global_graph *g)
{
    size_t n = (size_t)s->n;
    s->arena = sk_arena_new();
    if (!s->arena)
        return SK_NOMEM;
    s->holders = sk_arena_get(s->arena, n * sizeof *s->holders);
    s->target = sk_arena_get(s->arena, n * sizeof(*s->target));
    s->ntargets = sk_arena_get(s->arena, n * sizeof *s->ntargets);
    sk_status st = s->holders && s->target && s->ntargets ? SK_OK : SK_NOMEM;
    for (int p = 0; p < s->n && st == SK_OK; p++) {
        int in = sk_global_graph_degree(g, p, true), out = sk_global_graph_degree(g, p, false);
        int *source = sk_arena_get(s->arena, (size_t)in * sizeof *source);
        s->target[p] = sk_arena_get(s->arena, (size_t)out * sizeof(int));
        if (!source || !s->target[p])
            return SK_NOMEM;
        s->ntargets[p] = out;
        sk_global_graph_targets(g, p, s->target[p]);
        sk_global_graph_sources(g, p, source);
        st = sk_holder_list_init(&s->holders[p], s->arena, source, in);
    }
    return st;
}

sk_status sk_common_plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                         const int *ranks, int n, sk_pattern **out)
{
    (void)m;
    common_plan_state s = {.n = sk_global_graph_nranks(g), .rules = sk_friend_rules_of(o)};
    s.wanted = calloc((size_t)s.n, sizeof(sk_pattern *));
    sk_status st = s.wanted ? SK_OK : SK_NOMEM;
    for (int i = 0; i < n && st == SK_OK; i++)
        if (!(s.wanted[ranks[i]] = sk_pattern_new(s.n, ranks[i])))
            st = SK_NOMEM;
    if (st == SK_OK)
        st = first_level(&s, g);
    if (st == SK_OK)
        st = run_levels(&s);
    for (int i = 0; i < n && st == SK_OK; i++)
        st = sk_pattern_freeze(s.wanted[ranks[i]]);
    for (int i = 0; i < n && s.wanted; i++) {
        if (st == SK_OK)
            out[i] = s.wanted[ranks[i]];
        else
            sk_pattern_free(s.wanted[ranks[i]]);
    }
    sk_arena_free(s.arena);
    sk_arena_free(s.next_arena);
    free(s.wanted);
    return st;
}
