/* talk.c: messages that come too early, and negotiators that all live in one process. */
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

/* Messages kept back whose phase has come, oldest first; each may bring on the next phase. */
static sk_status catch_up(sk_negotiator *p, sk_channel *t)
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
        sk_status st =
            p->done || e->words[0] != phase ? SK_WIRE : p->ops->take(p, t, e->from, e->words, e->n);
        free(e);
        if (st != SK_OK)
            return st;
        if (p->phase != phase)
            at = &p->early;
    }
    return SK_OK;
}

/* After a step of the negotiator that began in `phase`. One that is done while messages wait for a later
 * phase was told of things it does not know: an error, as a message after the end would be. */
static sk_status go_on(sk_negotiator *p, sk_channel *t, int phase, sk_status st)
{
    if (st == SK_OK && p->phase != phase)
        st = catch_up(p, t);
    return st == SK_OK && p->done && p->early ? SK_WIRE : st;
}

sk_status sk_negotiator_start(sk_negotiator *p, sk_channel *t)
{
    p->early_end = &p->early;
    int phase = p->phase;
    return go_on(p, t, phase, p->ops->start(p, t));
}

sk_status sk_negotiator_receive(sk_negotiator *p, sk_channel *t, int from, const int32_t *words,
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
    return go_on(p, t, phase, p->ops->take(p, t, from, words, n));
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

/* ---- all in one process ---- */

typedef struct local local;

typedef struct mouth { /* the talk of one negotiator */
    sk_channel channel;
    local *room;
    int rank;
} mouth;

typedef struct inbox { /* messages for one negotiator */
    sk_early *first, **end;
    bool listed;
} inbox;

struct local {
    mouth *mouths;
    inbox *boxes;
    int n;
    int *listed; /* negotiators with messages */
    int nlisted;
    sk_channel_count count;
};

static sk_status inproc_send(sk_channel *t, int to, const int32_t *words, size_t n)
{
    mouth *m = (mouth *)t;
    local *l = m->room;
    if (to < 0 || to >= l->n || n == 0)
        return SK_BADARG;
    sk_early *e = keep(m->rank, words, n);
    if (!e)
        return SK_NOMEM;
    inbox *box = &l->boxes[to];
    *box->end = e;
    box->end = &e->next;
    if (!box->listed) {
        box->listed = true;
        l->listed[l->nlisted++] = to;
    }
    l->count.messages++;
    l->count.words += (int64_t)n;
    return SK_OK;
}

/* The next message of a box: the first, or by chance the first of another sender. */
static sk_early *pick(inbox *box, unsigned *seed)
{
    sk_early **at = &box->first;
    int skip = *seed ? rand_r(seed) % 4 : 0;
    for (int i = 0; i < skip && (*at)->next; i++) {
        sk_early **other = &(*at)->next;
        bool overtakes = false;
        for (sk_early *e = box->first; e != *other; e = e->next)
            overtakes |= e->from == (*other)->from;
        if (overtakes)
            break;
        at = other;
    }
    sk_early *e = *at;
    *at = e->next;
    if (!*at)
        box->end = at;
    return e;
}

static sk_status talk_on(local *l, sk_negotiator **negotiators, unsigned seed)
{
    while (l->nlisted) {
        int k = seed ? rand_r(&seed) % l->nlisted : 0, to = l->listed[k];
        inbox *box = &l->boxes[to];
        sk_early *e = pick(box, &seed);
        if (!box->first) {
            box->listed = false;
            l->listed[k] = l->listed[--l->nlisted];
        }
        sk_status st =
            sk_negotiator_receive(negotiators[to], &l->mouths[to].channel, e->from, e->words, e->n);
        free(e);
        if (st != SK_OK)
            return st;
    }
    return SK_OK;
}

sk_status sk_negotiate_inproc(sk_negotiator **negotiators, int n, unsigned seed,
                              sk_channel_count *count)
{
    size_t many = (size_t)n;
    local l = {.n = n,
               .mouths = calloc(many, sizeof *l.mouths),
               .boxes = calloc(many, sizeof *l.boxes),
               .listed = calloc(many, sizeof *l.listed)};
    sk_status st = l.mouths && l.boxes && l.listed ? SK_OK : SK_NOMEM;
    for (int i = 0; i < n && st == SK_OK; i++) {
        l.boxes[i].end = &l.boxes[i].first;
        l.mouths[i] = (mouth){.channel.send = inproc_send, .room = &l, .rank = i};
    }
    for (int i = 0; i < n && st == SK_OK; i++)
        st = sk_negotiator_start(negotiators[i], &l.mouths[i].channel);
    if (st == SK_OK)
        st = talk_on(&l, negotiators, seed);
    for (int i = 0; i < n && st == SK_OK; i++)
        st = negotiators[i]->done ? SK_OK : SK_DEADLOCK;
    if (st == SK_OK && count)
        *count = l.count;
    for (int i = 0; i < n && l.boxes; i++)
        for (sk_early *e = l.boxes[i].first, *next; e; e = next) {
            next = e->next;
            free(e);
        }
    free(l.mouths);
    free(l.boxes);
    free(l.listed);
    return st;
}
