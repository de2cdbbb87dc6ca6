#include "neighbor/common_mate.h"

#include <string.h>

sk_status sk_mate_room(sk_mate *s, sk_arena *a, const sk_matrix *m)
{
    size_t bytes = (size_t)m->words * sizeof(uint64_t);
    *s = (sk_mate){.m = m, .alive = sk_arena_get(a, bytes), .open = sk_arena_get(a, bytes)};
    return s->alive && s->open ? SK_OK : SK_NOMEM;
}

void sk_mate_begin(sk_mate *s)
{
    size_t bytes = (size_t)s->m->words * sizeof(uint64_t);
    memcpy(s->alive, s->m->offered, bytes);
    memcpy(s->open, s->m->offered, bytes);
    s->choice = s->suitor = -1;
    s->paired = s->terminal = false;
}

void sk_mate_choose(sk_mate *s)
{
    int suitor = s->suitor, old = s->choice;
    s->suitor = -1;
    if (old >= 0 && sk_bits_has(s->alive, old) && s->m->rank < sk_matrix_who(s->m, old))
        return; /* it is still looking, and will see that it was chosen */
    if (suitor >= 0) {
        s->choice = suitor; /* it will choose this rank again, by the rule above */
        return;
    }
    if (old >= 0)
        sk_bits_cut(s->open, old);
    s->choice = sk_matrix_best(s->m, s->open);
    s->terminal = s->choice < 0;
}

void sk_mate_chosen_by(sk_mate *s, int column)
{
    if (s->terminal)
        return;
    if (column == s->choice)
        s->paired = true;
    else if (sk_matrix_who(s->m, column) < s->m->rank && sk_bits_has(s->open, column) &&
             (s->suitor < 0 || sk_matrix_better(s->m, column, s->suitor)))
        s->suitor = column;
}

void sk_mate_lose(sk_mate *s, int column)
{
    sk_bits_cut(s->alive, column);
    sk_bits_cut(s->open, column);
}

void sk_mate_sweep(sk_mate *s, const uint64_t *gone)
{
    int words = s->m->words;
    for (int w = 0; w < words && !s->m->who; w++) {
        s->alive[w] &= ~gone[w];
        s->open[w] &= ~gone[w];
    }
    for (int i = s->m->who ? sk_bits_next(s->alive, words, 0) : -1; i >= 0;
         i = sk_bits_next(s->alive, words, i + 1))
        if (sk_bits_has(gone, s->m->who[i]))
            sk_mate_lose(s, i);
}
