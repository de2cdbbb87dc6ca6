/* common_search.c: the distributed protocol: Algorithm 2 by messages, and how groups learn of each
 * other. */
#include <string.h>

#include "neighbor/common_party.h"

/* words[1 ... n] to all friends of a set; how many there are. */
static sk_status tell_all(sk_common_negotiator *s, sk_channel *t, const uint64_t *set, int n,
                          int *many)
{
    sk_status st = SK_OK;
    int words = s->m->words;
    *many = 0;
    for (int i = sk_bits_next(set, words, 0); i >= 0 && st == SK_OK;
         i = sk_bits_next(set, words, i + 1)) {
        st = sk_common_tell(s, t, sk_matrix_who(s->m, i), n);
        ++*many;
    }
    return st;
}

/* ---- choice and state: lines 23 and 27 ---- */

sk_status sk_say_choice(sk_common_negotiator *s, sk_channel *t)
{
    sk_mate_choose(&s->mate);
    s->words[1] = s->mate.terminal ? SK_NOBODY : sk_matrix_who(s->m, s->mate.choice);
    return tell_all(s, t, s->mate.alive, 1, &s->waiting);
}

sk_status sk_hear_choice(sk_common_negotiator *s, int from, const int32_t *words, size_t n)
{
    int column = sk_matrix_column(s->m, from);
    if (n != 1 || column < 0)
        return SK_WIRE;
    if (words[0] == SK_NOBODY)
        sk_mate_lose(&s->mate, column);
    else if (words[0] == s->base.rank)
        sk_mate_chosen_by(&s->mate, column);
    return SK_OK;
}

sk_status sk_say_state(sk_common_negotiator *s, sk_channel *t)
{
    s->words[1] = s->mate.paired;
    return tell_all(s, t, s->mate.alive, 1, &s->waiting);
}

sk_status sk_hear_state(sk_common_negotiator *s, int from, const int32_t *words, size_t n)
{
    int column = sk_matrix_column(s->m, from);
    if (n != 1 || column < 0)
        return SK_WIRE;
    if (words[0])
        sk_mate_lose(&s->mate, column);
    return SK_OK;
}

/* ---- groups ---- */

/* Lists of ranks are kept as they come. */
_Static_assert(sizeof(int32_t) == sizeof(int), "a word of a message holds a rank");

sk_status sk_say_groups(sk_common_negotiator *s, sk_channel *t)
{
    int n = s->circle.leader == s->base.rank ? sk_circle_size(&s->circle) : 0;
    memcpy(s->words + 1, s->circle.member, (size_t)n * sizeof *s->words);
    return tell_all(s, t, s->m->friends, n, &s->waiting);
}

sk_status sk_hear_groups(sk_common_negotiator *s, int from, const int32_t *words, size_t n)
{
    int column = sk_matrix_column(s->m, from);
    if (column < 0 || n > (size_t)s->rules.most)
        return SK_WIRE;
    s->ngroup[column] = (int)n;
    memcpy(s->group + (size_t)column * (size_t)s->rules.most, words, n * sizeof *words);
    return SK_OK;
}

void sk_after_groups(sk_common_negotiator *s)
{
    sk_matrix *m = s->m;
    if (s->circle.leader != s->base.rank)
        return;
    int common = sk_circle_close(&s->circle, m);
    for (int i = sk_bits_next(m->friends, m->words, 0); i >= 0;
         i = sk_bits_next(m->friends, m->words, i + 1))
        if (s->ngroup[i])
            sk_circle_open(&s->rules, &s->circle, m, common, i,
                           s->group + (size_t)i * (size_t)s->rules.most, s->ngroup[i]);
    sk_mate_begin(&s->mate);
}

/* The leader of a group knows whom it found; the others wait to be told. */
sk_status sk_say_tell(sk_common_negotiator *s, sk_channel *t)
{
    sk_status st = SK_OK;
    int size = sk_circle_size(&s->circle), n = 0;
    s->waiting = s->circle.leader != s->base.rank;
    if (s->waiting)
        return SK_OK;
    if (s->mate.paired) {
        size_t column = (size_t)s->mate.choice;
        n = s->ngroup[column];
        memcpy(s->words + 1, s->group + column * (size_t)s->rules.most,
               (size_t)n * sizeof *s->words);
        sk_circle_join(&s->circle, s->words + 1, n);
    }
    for (int i = 1; i < size && st == SK_OK; i++)
        st = sk_common_tell(s, t, s->circle.member[i], n);
    return st;
}

sk_status sk_hear_tell(sk_common_negotiator *s, int from, const int32_t *words, size_t n)
{
    if (from != s->circle.leader || n > (size_t)(s->rules.most - sk_circle_size(&s->circle)))
        return SK_WIRE;
    if (n)
        sk_circle_join(&s->circle, words, (int)n);
    return SK_OK;
}
