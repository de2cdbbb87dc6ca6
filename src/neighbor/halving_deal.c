/* halving_deal.c: Algorithms 2 and 3, as what is done about each signal that comes.
 *
 * Every pair of the half exchanges exactly one signal each way, REQ or EXIT against ACCEPT or DROP,
 * so who has heard from all has also said all, and is done. An origin asks its best candidate that
 * has not dropped it; an agent accepts its best one that has not gone away, and drops the others.
 * Since both rate a pair alike, the outcome does not depend on which signal comes first.
 *
 * Two things differ from the print. Conditions that there read `selected_origin != -1` mean that
 * none was selected. And an origin that was dropped by a rank it has not asked answers not at once,
 * but when it has found an agent (EXIT) or knows that it goes without (LEFT): so the second pass
 * needs signals only between those of whom that is not known yet. */
#include "neighbor/halving_deal.h"

#include <stdlib.h>

enum { REQ, ACCEPT, DROP, EXIT, LEFT }; /* the signals */

/* What passed with a rank. After the first two it can no more come to an agreement. */
enum {
    OPEN,    /* nothing yet */
    ASKED,   /* REQ, no answer yet */
    DROPPED, /* DROP, without a REQ before; the origin's answer is due */
    REFUSED, /* REQ and DROP: whether the origin has found another is not known to the agent */
    AGREED,  /* REQ and ACCEPT */
    GONE,    /* EXIT: the origin has an agent */
    FAILED,  /* LEFT: it has none */
};

sk_status sk_deal_init(sk_deal *d, int nranks)
{
    size_t n = (size_t)nranks;
    *d = (sk_deal){.list = malloc(n * sizeof *d->list), .state = calloc(n, sizeof *d->state)};
    if (d->list && d->state)
        return SK_OK;
    sk_deal_free(d);
    return SK_NOMEM;
}

void sk_deal_free(sk_deal *d)
{
    free(d->list);
    free(d->state);
    *d = (sk_deal){0};
}

static sk_status say(sk_deal *d, sk_channel *t, int to, int signal, int state)
{
    int32_t words[] = {d->phase, signal};
    d->state[to] = (uint8_t)state;
    return t->send(t, to, words, sizeof words / sizeof *words);
}

/* ---- the origin ---- */

/* Tell all that wait for my answer, or may still wait for my request, that I need them no more. */
static sk_status leave(sk_deal *d, sk_channel *t)
{
    sk_status st = SK_OK;
    bool found = d->partner >= 0;
    for (int i = 0; i < d->n && st == SK_OK; i++) {
        int who = d->list[i].who;
        if (d->state[who] == OPEN || d->state[who] == DROPPED)
            st = say(d, t, who, found ? EXIT : LEFT, found ? GONE : FAILED);
    }
    return st;
}

static sk_status ask(sk_deal *d, sk_channel *t)
{
    while (d->best < d->n && d->state[d->list[d->best].who] != OPEN)
        d->best++;
    if (d->best == d->n)
        return leave(d, t);
    return say(d, t, d->list[d->best].who, REQ, ASKED);
}

static sk_status origin_take(sk_deal *d, sk_channel *t, int from, int signal)
{
    uint8_t *state = &d->state[from];
    if (signal == ACCEPT && *state == ASKED) {
        *state = AGREED;
        d->partner = from;
        return leave(d, t);
    }
    if (signal != DROP)
        return SK_WIRE;
    if (*state == ASKED) {
        *state = REFUSED;
        return ask(d, t);
    }
    if (*state == OPEN)
        *state = DROPPED;
    return SK_OK;
}

/* ---- the agent ---- */

/* Accept the best origin that has not gone away, if it has asked, and then drop the others. */
static sk_status decide(sk_deal *d, sk_channel *t)
{
    while (d->best < d->n && d->state[d->list[d->best].who] > ASKED)
        d->best++;
    if (d->partner >= 0 || d->best == d->n || d->state[d->list[d->best].who] != ASKED)
        return SK_OK;
    d->partner = d->list[d->best].who;
    sk_status st = say(d, t, d->partner, ACCEPT, AGREED);
    for (int i = d->best + 1; i < d->n && st == SK_OK; i++) {
        int who = d->list[i].who;
        if (d->state[who] <= ASKED)
            st = say(d, t, who, DROP, d->state[who] == ASKED ? REFUSED : DROPPED);
    }
    return st;
}

static sk_status agent_take(sk_deal *d, sk_channel *t, int from, int signal)
{
    uint8_t *state = &d->state[from];
    bool dropped = *state == DROPPED;
    if (*state != OPEN && !dropped)
        return SK_WIRE;
    if (signal == REQ) {
        *state = dropped ? REFUSED : ASKED;
        return decide(d, t);
    }
    if (signal != EXIT && signal != LEFT)
        return SK_WIRE;
    int now = signal == EXIT ? GONE : FAILED;
    *state = (uint8_t)now;
    sk_status st = dropped ? SK_OK : say(d, t, from, DROP, now);
    return st == SK_OK ? decide(d, t) : st;
}

/* ---- both ---- */

static int by_choice(const void *a, const void *b)
{
    const sk_choice *x = a, *y = b;
    return sk_choice_before(*x, *y) ? -1 : sk_choice_before(*y, *x);
}

static void reset(sk_deal *d, sk_due *due, int phase, int n)
{
    d->phase = phase;
    d->n = n;
    d->best = 0;
    for (int i = 0; i < n; i++) {
        d->state[d->list[i].who] = OPEN;
        sk_due_add(due, d->list[i].who);
    }
}

sk_status sk_deal_begin(sk_deal *d, sk_channel *t, sk_due *due, int phase, bool origin, int n)
{
    if (n)
        qsort(d->list, (size_t)n, sizeof *d->list, by_choice);
    reset(d, due, phase, n);
    d->origin = origin;
    d->partner = -1;
    return origin ? ask(d, t) : SK_OK;
}

sk_status sk_deal_again(sk_deal *d, sk_channel *t, sk_due *due, int phase)
{
    bool found = d->origin && d->partner >= 0;
    int n = 0;
    for (int i = 0; i < d->n; i++) {
        int state = d->state[d->list[i].who];
        if (state == REFUSED || state == FAILED)
            d->list[n++] = d->list[i];
    }
    reset(d, due, phase, n);
    if (found)
        return leave(d, t);
    d->partner = -1;
    return d->origin ? ask(d, t) : SK_OK;
}

sk_status sk_deal_take(sk_deal *d, sk_channel *t, int from, const int32_t *words, size_t n)
{
    if (n != 2)
        return SK_WIRE;
    return d->origin ? origin_take(d, t, from, words[1]) : agent_take(d, t, from, words[1]);
}
