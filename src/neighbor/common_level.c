/* common_level.c: the distributed protocol: a level begins and ends; lists and notes, in which
 * ranks speak as holders and as targets. */
#include <stdlib.h>

#include "neighbor/common_party.h"

sk_status sk_common_tell(sk_common_negotiator *s, sk_channel *t, int to, int n)
{
    s->words[0] = s->base.phase;
    return t->send(t, to, s->words, 1 + (size_t)n);
}

sk_status sk_common_level_begin(sk_common_negotiator *s, int *target, int n)
{
    size_t many = (size_t)n, in = (size_t)s->mine.n;
    size_t longest = (in > SK_MOST_FRIENDS ? in : SK_MOST_FRIENDS) + 2;
    s->iteration = 0;
    s->out = s->parting = false;
    s->nactive = s->mine.n;
    s->nleft = s->nonloads = 0;
    s->later = sk_arena_new();
    if (!s->later)
        return SK_NOMEM;
    s->m = sk_matrix_new(s->arena, s->base.rank, target, n, NULL);
    s->heard = sk_arena_get(s->arena, many * sizeof *s->heard);
    s->state = sk_arena_get(s->arena, in);
    s->left = sk_arena_get(s->arena, in * sizeof *s->left);
    s->words = sk_arena_get(s->arena, longest * sizeof *s->words);
    s->onload = sk_arena_get(s->later, many * sizeof *s->onload);
    if (!s->m || !s->heard || !s->state || !s->left || !s->words || !s->onload)
        return SK_NOMEM;
    sk_status st = sk_circle_room(&s->circle, s->arena, &s->rules, s->base.rank);
    if (st == SK_OK)
        st = sk_holds_room(&s->kept, s->later, n);
    return st == SK_OK ? sk_holds_room(&s->next, s->later, s->mine.n) : st;
}

static sk_status finish(sk_common_negotiator *s)
{
    for (int i = 0; i < s->kept.n; i++) {
        int dst = s->kept.holder[i].rank;
        sk_holder_send(&s->kept.holder[i], s->level, dst, dst, s->pattern);
    }
    for (int i = 0; i < s->next.n; i++)
        sk_holder_recv(&s->next.holder[i], s->level, s->next.holder[i].rank, s->base.rank,
                       s->pattern);
    sk_status st = sk_pattern_freeze(s->pattern);
    if (st != SK_OK)
        return st;
    s->base.made[SK_BY_COMMON] = s->pattern;
    s->pattern = NULL;
    s->base.done = true;
    return SK_OK;
}

sk_status sk_common_level_end(sk_common_negotiator *s)
{
    for (int i = 0; i < s->mine.n; i++)
        if (s->state[i] == SK_FINAL)
            sk_holder_recv(&s->mine.holder[i], s->level, s->mine.holder[i].rank, s->base.rank,
                           s->pattern);
    s->level++;
    if (s->level == s->rules.levels || (s->nonloads == 0 && s->next.n == 0))
        return finish(s);
    sk_arena_free(s->arena);
    s->arena = s->later;
    s->later = NULL;
    s->mine = s->next;
    sk_holds_sort(&s->mine);
    sk_ranks_sort(s->onload, s->nonloads);
    return sk_common_level_begin(s, s->onload, s->nonloads);
}

/* ---- lists: the matrix is made, and later cut down ---- */

sk_status sk_say_lists(sk_common_negotiator *s, sk_channel *t)
{
    sk_status st = SK_OK;
    s->waiting = s->out ? 0 : s->m->nrows;
    if (s->iteration == 0) {
        int32_t *words;
        size_t n;
        st = sk_holds_pack(&s->mine, s->base.phase, &words, &n);
        if (st != SK_OK)
            return st;
        for (int i = 0; i < s->mine.n && st == SK_OK; i++)
            st = t->send(t, s->mine.holder[i].rank, words, n);
        free(words);
        return st;
    }
    for (int i = 0; i < s->nleft; i++)
        s->words[1 + i] = s->left[i];
    for (int i = 0; i < s->mine.n && st == SK_OK; i++)
        if (s->state[i] == SK_ACTIVE)
            st = sk_common_tell(s, t, s->mine.holder[i].rank, s->nleft);
    s->nleft = 0;
    return st;
}

sk_status sk_hear_lists(sk_common_negotiator *s, int from, const int32_t *words, size_t n)
{
    int row = sk_matrix_row(s->m, from);
    if (row < 0)
        return SK_WIRE;
    for (size_t i = 0; i < n && s->iteration > 0; i++)
        sk_matrix_drop(s->m, from, words[i]);
    if (s->iteration > 0)
        return SK_OK;
    s->m->holds[row] = &s->heard[row];
    sk_status st = sk_holds_unpack(&s->heard[row], s->arena, s->base.nranks, words, n);
    return st == SK_OK && !sk_holds_find(&s->heard[row], s->base.rank) ? SK_WIRE : st;
}

/* All lists of the level are there. */
static sk_status make_matrix(sk_common_negotiator *s)
{
    int *count = calloc((size_t)s->base.nranks, sizeof *count);
    sk_status st = count ? sk_matrix_local(s->m, s->arena, s->rules.theta, count) : SK_NOMEM;
    free(count);
    if (st == SK_OK)
        st = sk_mate_room(&s->mate, s->arena, s->m);
    if (st != SK_OK || s->rules.rounds == 1)
        return st;
    size_t columns = (size_t)s->m->nwho;
    s->group = sk_arena_get(s->arena, columns * (size_t)s->rules.most * sizeof *s->group);
    s->ngroup = sk_arena_get(s->arena, columns * sizeof *s->ngroup);
    return s->group && s->ngroup ? SK_OK : SK_NOMEM;
}

sk_status sk_after_lists(sk_common_negotiator *s)
{
    sk_status st = s->iteration == 0 ? make_matrix(s) : SK_OK;
    if (st != SK_OK || s->out)
        return st;
    sk_circle_begin(&s->circle);
    s->round = 1;
    s->attempt = 0;
    s->out = s->parting = !sk_matrix_count(s->m, s->rules.theta);
    if (s->out)
        return SK_OK;
    sk_circle_offer_first(&s->rules, s->m, s->iteration);
    sk_mate_begin(&s->mate);
    return SK_OK;
}
