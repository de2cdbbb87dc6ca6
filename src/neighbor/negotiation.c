/* negotiation.c: messages that arrive before their phase are kept until the negotiator gets there. */
#include "neighbor/negotiation.h"

#include <stdlib.h>
#include <string.h>

struct sk_early {
    sk_early *next;
    int from;
    size_t n;
    int32_t words[];
};

static sk_early *keep(int from, const int32_t *words, size_t n)
{
    sk_early *e = malloc(sizeof *e + n * sizeof *words);
    if (!e)
        return NULL;
    *e = (sk_early){.from = from, .n = n};
    memcpy(e->words, words, n * sizeof *words);
    return e;
}

/* Handles the kept messages whose phase has come, oldest first. Each may start the next phase. */
static sk_status catch_up(sk_negotiator *p, sk_channel *ch)
{
    for (sk_early **at = &p->early; *at;) {
        sk_early *e = *at;
        if (e->words[0] > p->phase) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        if (!*at)
            p->early_end = at;
        int phase = p->phase;
        sk_status st = p->done || e->words[0] != phase
                           ? SK_WIRE
                           : p->ops->receive(p, ch, e->from, e->words, e->n);
        free(e);
        if (st != SK_OK)
            return st;
        if (p->phase != phase)
            at = &p->early;
    }
    return SK_OK;
}

/* After a step of the negotiator that began in `phase`. When it is done while messages are kept for a later
 * phase, another rank expects more of it than it knows: an error, as a message after the end would be. */
static sk_status go_on(sk_negotiator *p, sk_channel *ch, int phase, sk_status st)
{
    if (st == SK_OK && p->phase != phase)
        st = catch_up(p, ch);
    return st == SK_OK && p->done && p->early ? SK_WIRE : st;
}

sk_status sk_negotiator_start(sk_negotiator *p, sk_channel *ch)
{
    p->early_end = &p->early;
    int phase = p->phase;
    return go_on(p, ch, phase, p->ops->start(p, ch));
}

sk_status sk_negotiator_receive(sk_negotiator *p, sk_channel *ch, int from, const int32_t *words,
                                size_t n)
{
    if (n == 0 || p->done || words[0] < p->phase)
        return SK_WIRE;
    if (words[0] > p->phase) {
        sk_early *e = keep(from, words, n);
        if (!e)
            return SK_NOMEM;
        *p->early_end = e;
        p->early_end = &e->next;
        return SK_OK;
    }
    int phase = p->phase;
    return go_on(p, ch, phase, p->ops->receive(p, ch, from, words, n));
}

void sk_negotiator_free(sk_negotiator *p)
{
    if (!p)
        return;
    for (sk_early *e = p->early, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    for (int i = 0; i < SK_MAX_METHODS; i++)
        sk_pattern_free(p->made[i]);
    p->ops->free(p);
}
