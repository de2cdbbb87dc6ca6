/* common_room.c: the memory of one level of a plan. */
#include <stdlib.h>

#include "neighbor/common_plan.h"

/* Bits that all share when these take less memory than bits of their own, limited to those ranks
 * that may become friends. */
static bool better_shared(const sk_common_plan *s)
{
    int64_t words = sk_bits_words(s->n), own = 0, shared = words * s->n;
    for (int p = 0; p < s->n; p++) {
        int64_t others = 0, more = sk_planes_for(s->ntargets[p]) + 4;
        for (int i = 0; i < s->ntargets[p]; i++)
            others += s->holds[s->target[p][i]].n;
        others /= s->rules.theta;
        own += (s->ntargets[p] + more) * sk_bits_words((int)(others < s->n ? others : s->n));
        shared += more * words;
    }
    return shared <= own;
}

static sk_status make_columns(sk_common_plan *s)
{
    size_t words = (size_t)sk_bits_words(s->n);
    s->columns = sk_arena_get(s->arena, words * (size_t)s->n * sizeof *s->columns);
    if (!s->columns)
        return SK_NOMEM;
    for (int d = 0; d < s->n; d++)
        for (int i = 0; i < s->holds[d].n; i++)
            sk_bits_add(s->columns + (size_t)d * words, s->holds[d].holder[i].rank);
    return SK_OK;
}

sk_status sk_common_plan_bits(sk_common_plan *s)
{
    sk_status st = SK_OK;
    int *count = NULL;
    s->columns = NULL;
    if (better_shared(s))
        st = make_columns(s);
    else if (!(count = calloc((size_t)s->n, sizeof *count)))
        st = SK_NOMEM;
    for (int p = 0; p < s->n && st == SK_OK; p++) {
        st = s->columns ? sk_matrix_shared(s->matrix[p], s->arena, s->n, s->columns)
                        : sk_matrix_local(s->matrix[p], s->arena, s->rules.theta, count);
        if (st == SK_OK)
            st = sk_mate_room(&s->mate[p], s->arena, s->matrix[p]);
    }
    free(count);
    return st;
}

sk_status sk_common_plan_room(sk_common_plan *s)
{
    size_t n = (size_t)s->n;
    s->later = sk_arena_new();
    s->matrix = sk_arena_get(s->arena, n * sizeof(sk_matrix *));
    s->looks = sk_arena_get(s->arena, n * sizeof *s->looks);
    s->mate = sk_arena_get(s->arena, n * sizeof *s->mate);
    s->circle = sk_arena_get(s->arena, n * sizeof *s->circle);
    s->unit = sk_arena_get(s->arena, n * sizeof *s->unit);
    s->gone = sk_arena_get(s->arena, (size_t)sk_bits_words(s->n) * sizeof *s->gone);
    if (!s->later || !s->matrix || !s->looks || !s->mate || !s->circle || !s->unit || !s->gone)
        return SK_NOMEM;
    s->next = sk_arena_get(s->later, n * sizeof *s->next);
    s->onload = sk_arena_get(s->later, n * sizeof(*s->onload));
    s->nonloads = sk_arena_get(s->later, n * sizeof *s->nonloads);
    if (!s->next || !s->onload || !s->nonloads)
        return SK_NOMEM;
    sk_status st = SK_OK;
    for (int p = 0; p < s->n && st == SK_OK; p++) {
        s->onload[p] = sk_arena_get(s->later, (size_t)s->ntargets[p] * sizeof(int));
        s->matrix[p] = sk_matrix_new(s->arena, p, s->target[p], s->ntargets[p], s->holds);
        s->looks[p] = s->ntargets[p] > 0;
        st = s->onload[p] && s->matrix[p] ? sk_holds_room(&s->next[p], s->later, s->holds[p].n)
                                          : SK_NOMEM;
        if (st == SK_OK)
            st = sk_circle_room(&s->circle[p], s->arena, &s->rules, p);
    }
    return st;
}
