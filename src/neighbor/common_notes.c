/* common_notes.c: the distributed protocol: what a holder does with what it holds for a target, and
 * what the target learns of it. */
#include "neighbor/common_party.h"

enum { STAYS, FINAL, CARRIED, PASSED }; /* PASSED: to a carrier, or it comes with an exchange */

static sk_status say_part(sk_common_negotiator *s, sk_channel *t)
{
    sk_status st = SK_OK;
    sk_matrix_deliver(s->m, s->level, s->pattern);
    s->words[1] = FINAL;
    for (int i = 0; i < s->m->nrows && st == SK_OK; i++)
        st = sk_common_tell(s, t, s->m->target[i], 1);
    s->parting = false;
    return st;
}

static sk_status carry(sk_common_negotiator *s, sk_channel *t, int row)
{
    int target = s->m->target[row], n = s->circle.size[s->m->depth[row]];
    s->onload[s->nonloads++] = target;
    sk_status st = sk_holds_join(&s->kept, s->later, target, s->m->holds[row], s->circle.member, n);
    s->words[1] = CARRIED;
    for (int i = 0; i < n; i++)
        s->words[2 + i] = s->circle.member[i];
    return st == SK_OK ? sk_common_tell(s, t, target, 1 + n) : st;
}

static void exchange(sk_common_negotiator *s)
{
    sk_circle_exchange(&s->circle, s->m, s->level, s->pattern);
    for (int k = 1; k < sk_circle_size(&s->circle); k++) {
        int from = s->circle.member[k];
        const sk_holder *b = sk_holds_find(&s->mine, from);
        if (b && s->state[b - s->mine.holder] == SK_ACTIVE)
            sk_holder_recv(b, s->level, from, s->base.rank, s->pattern);
    }
}

sk_status sk_say_notes(sk_common_negotiator *s, sk_channel *t)
{
    sk_status st = SK_OK;
    s->waiting = s->nactive;
    if (s->out)
        return s->parting ? say_part(s, t) : SK_OK;
    sk_circle_divide(&s->circle, s->m);
    exchange(s);
    for (int i = 0; i < s->m->nrows && st == SK_OK; i++) {
        s->words[1] = s->m->fate[i] == SK_STAYS ? STAYS : PASSED;
        st = s->m->fate[i] == s->base.rank ? carry(s, t, i)
                                           : sk_common_tell(s, t, s->m->target[i], 1);
    }
    sk_matrix_settle(s->m);
    return st;
}

sk_status sk_hear_notes(sk_common_negotiator *s, int from, const int32_t *words, size_t n)
{
    const sk_holder *b = sk_holds_find(&s->mine, from);
    uint8_t *state = b ? &s->state[b - s->mine.holder] : NULL;
    if (n == 0 || n - 1 > (size_t)s->rules.most || !state || *state != SK_ACTIVE)
        return SK_WIRE;
    if (words[0] == STAYS)
        return SK_OK;
    s->nactive--;
    *state = words[0] == FINAL ? SK_FINAL : SK_LEFT;
    if (words[0] != FINAL)
        s->left[s->nleft++] = from;
    return words[0] == CARRIED
               ? sk_holds_join(&s->next, s->later, from, &s->mine, words + 1, (int)n - 1)
               : SK_OK;
}
