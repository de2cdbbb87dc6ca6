/* common_pair.c: Algorithm 2 for all ranks at once: the tries one after the other, in each of them
 * all choose, all hear, all lose those that left. */
#include <string.h>

#include "neighbor/common_plan.h"

/* The groups of p's friends that p's group could join. */
static void offer_groups(sk_common_plan *s, int p)
{
    sk_matrix *m = s->matrix[p];
    int common = sk_circle_close(&s->circle[p], m);
    for (int i = sk_bits_next(m->friends, m->words, 0); i >= 0;
         i = sk_bits_next(m->friends, m->words, i + 1)) {
        int q = sk_matrix_who(m, i);
        const sk_circle *c = &s->circle[q];
        if (c->leader == q)
            sk_circle_open(&s->rules, &s->circle[p], m, common, i, c->member, sk_circle_size(c));
    }
}

static void begin(sk_common_plan *s, int round, int iteration)
{
    s->nunits = 0;
    for (int p = 0; p < s->n; p++) {
        if (!s->looks[p] || s->circle[p].leader != p)
            continue;
        if (round == 0)
            sk_circle_offer_first(&s->rules, s->matrix[p], iteration);
        else
            offer_groups(s, p);
        sk_mate_begin(&s->mate[p]);
        s->unit[s->nunits++] = p;
    }
}

static int choice_of(const sk_common_plan *s, int p)
{
    return sk_matrix_who(s->matrix[p], s->mate[p].choice);
}

static void try_once(sk_common_plan *s)
{
    for (int i = 0; i < s->nunits; i++)
        sk_mate_choose(&s->mate[s->unit[i]]);
    for (int i = 0; i < s->nunits; i++) {
        int p = s->unit[i], q = s->mate[p].terminal ? -1 : choice_of(s, p);
        if (q >= 0)
            sk_mate_chosen_by(&s->mate[q], sk_matrix_column(s->matrix[q], p));
    }
    memset(s->gone, 0, (size_t)sk_bits_words(s->n) * sizeof *s->gone);
    int left = 0;
    for (int i = 0; i < s->nunits; i++) {
        int p = s->unit[i];
        if (s->mate[p].paired || s->mate[p].terminal)
            sk_bits_add(s->gone, p);
        else
            s->unit[left++] = p;
    }
    s->nunits = left;
    for (int i = 0; i < left; i++)
        sk_mate_sweep(&s->mate[s->unit[i]], s->gone);
}

/* Both groups in full: a group's list only grows at its end. */
static void join(sk_common_plan *s, int p, int q)
{
    int a = sk_circle_size(&s->circle[p]), b = sk_circle_size(&s->circle[q]);
    for (int i = 1; i < a; i++)
        sk_circle_join(&s->circle[s->circle[p].member[i]], s->circle[q].member, b);
    for (int i = 1; i < b; i++)
        sk_circle_join(&s->circle[s->circle[q].member[i]], s->circle[p].member, a);
    sk_circle_join(&s->circle[p], s->circle[q].member, b);
    sk_circle_join(&s->circle[q], s->circle[p].member, a);
}

void sk_common_pair(sk_common_plan *s, int iteration)
{
    for (int p = 0; p < s->n; p++)
        if (s->looks[p])
            sk_circle_begin(&s->circle[p]);
    for (int round = 0; round < s->rules.rounds; round++) {
        begin(s, round, iteration);
        for (int i = 0; i < SK_TRIES && s->nunits; i++)
            try_once(s);
        for (int p = 0; p < s->n; p++)
            s->unit[p] = -1;
        for (int p = 0; p < s->n; p++)
            if (s->looks[p] && s->circle[p].leader == p && s->mate[p].paired)
                s->unit[p] = choice_of(s, p);
        for (int p = 0; p < s->n; p++)
            if (s->unit[p] > p)
                join(s, p, s->unit[p]);
    }
}
