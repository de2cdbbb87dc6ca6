/* negotiate.c: all negotiators of a communicator in one process. */
#include "lab/neighbor/negotiate.h"

#include <stdlib.h>
#include <string.h>

typedef struct queued_message queued_message;
struct queued_message {
    queued_message *next;
    int from;
    size_t n;
    int32_t words[];
};

static queued_message *new_message(int from, const int32_t *words, size_t n)
{
    queued_message *e = malloc(sizeof *e + n * sizeof *words);
    if (!e)
        return NULL;
    *e = (queued_message){.from = from, .n = n};
    memcpy(e->words, words, n * sizeof *words);
    return e;
}

typedef struct inproc_net inproc_net;

typedef struct inproc_channel { /* the channel of one negotiator */
    sk_channel channel;
    inproc_net *net;
    int rank;
} inproc_channel;

typedef struct inproc_inbox { /* messages for one negotiator */
    queued_message *first, **end;
    bool listed;
} inproc_inbox;

struct inproc_net {
    inproc_channel *channels;
    inproc_inbox *boxes;
    int n;
    int *listed; /* negotiators with messages */
    int nlisted;
    sk_channel_count count;
};

static sk_status inproc_send(sk_channel *ch, int to, const int32_t *words, size_t n)
{
    inproc_channel *m = (inproc_channel *)ch;
    inproc_net *l = m->net;
    if (to < 0 || to >= l->n || n == 0)
        return SK_BADARG;
    queued_message *e = new_message(m->rank, words, n);
    if (!e)
        return SK_NOMEM;
    inproc_inbox *box = &l->boxes[to];
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
static queued_message *pick(inproc_inbox *box, unsigned *seed)
{
    queued_message **at = &box->first;
    int skip = *seed ? rand_r(seed) % 4 : 0;
    for (int i = 0; i < skip && (*at)->next; i++) {
        queued_message **other = &(*at)->next;
        bool overtakes = false;
        for (queued_message *e = box->first; e != *other; e = e->next)
            overtakes |= e->from == (*other)->from;
        if (overtakes)
            break;
        at = other;
    }
    queued_message *e = *at;
    *at = e->next;
    if (!*at)
        box->end = at;
    return e;
}

static sk_status deliver_all(inproc_net *l, sk_negotiator **negotiators, unsigned seed)
{
    while (l->nlisted) {
        int k = seed ? rand_r(&seed) % l->nlisted : 0, to = l->listed[k];
        inproc_inbox *box = &l->boxes[to];
        queued_message *e = pick(box, &seed);
        if (!box->first) {
            box->listed = false;
            l->listed[k] = l->listed[--l->nlisted];
        }
        sk_status st = sk_negotiator_receive(negotiators[to], &l->channels[to].channel, e->from,
                                             e->words, e->n);
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
    inproc_net l = {.n = n,
                    .channels = calloc(many, sizeof *l.channels),
                    .boxes = calloc(many, sizeof *l.boxes),
                    .listed = calloc(many, sizeof *l.listed)};
    sk_status st = l.channels && l.boxes && l.listed ? SK_OK : SK_NOMEM;
    for (int i = 0; i < n && st == SK_OK; i++) {
        l.boxes[i].end = &l.boxes[i].first;
        l.channels[i] = (inproc_channel){.channel.send = inproc_send, .net = &l, .rank = i};
    }
    for (int i = 0; i < n && st == SK_OK; i++)
        st = sk_negotiator_start(negotiators[i], &l.channels[i].channel);
    if (st == SK_OK)
        st = deliver_all(&l, negotiators, seed);
    for (int i = 0; i < n && st == SK_OK; i++)
        st = negotiators[i]->done ? SK_OK : SK_DEADLOCK;
    if (st == SK_OK && count)
        *count = l.count;
    for (int i = 0; i < n && l.boxes; i++)
        for (queued_message *e = l.boxes[i].first, *next; e; e = next) {
            next = e->next;
            free(e);
        }
    free(l.channels);
    free(l.boxes);
    free(l.listed);
    return st;
}
