/* messages.c: what a message costs both its ends, and when it arrives. */
#include <stdlib.h>

#include "price/walk_inner.h"
#include "shm/tuning.h"

/* One transfer less whose end is not known. */
static void settle(sk_walk *x, sk_walker *w, double at)
{
    if (--w->pending == 0 && w->state == AWAITS_MESSAGES) {
        w->state = RUNS;
        sk_walk_resume_at(x, sk_walk_larger(w->t, at), w);
    }
}

static void deliver(sk_walk *x, int recv, sk_walk_arrival a)
{
    sk_walker *w = &x->walkers[x->channels.pool[recv].walker];
    if (w->narrivals == w->cap) {
        int cap = w->cap ? 2 * w->cap : 4;
        sk_walk_arrival *more = realloc(w->arrivals, (size_t)cap * sizeof *more);
        if (!more) {
            x->status = SK_NOMEM;
            return;
        }
        w->arrivals = more;
        w->cap = cap;
    }
    w->arrivals[w->narrivals++] = a;
    sk_channels_drop(&x->channels, recv);
    settle(x, w, a.at);
}

static bool is_long(const sk_walk *x, const sk_act *act)
{
    return !act->fifo && (double)act->len > x->p->level[act->level].eager;
}

/* A long message on a node, once the receiver is there. */
static double read_in_place(const sk_walk *x, const sk_act *act)
{
    return x->p->call + (double)act->len * (x->p->read + (act->fresh ? x->p->fresh : 0));
}

/* What the receiver pays. */
static double recv_cost(const sk_walk *x, const sk_act *act)
{
    const sk_level_prices *l = &x->p->level[act->level];
    double len = (double)act->len;
    if (act->fifo)
        return x->p->step + len * l->out;
    if (is_long(x, act) && act->level != SK_AT_NET)
        return l->recv + read_in_place(x, act) + l->send; /* and the sender is told */
    return l->recv + len * l->out;
}

/* The arrival of a message is known: hand it to its receive, if that is there. */
static void arrive(sk_walk *x, int send)
{
    const sk_walk_transfer *s = &x->channels.pool[send];
    if (s->match == SK_NO_TRANSFER)
        return;
    int recv = s->match;
    const sk_act *to = x->channels.pool[recv].act;
    sk_walk_arrival a = {s->arrival, recv_cost(x, s->act) + to->ns, s->floor, to->bytes};
    sk_channels_drop(&x->channels, send);
    deliver(x, recv, a);
}

void sk_walk_pass_port(sk_walk *x, int send, double now)
{
    sk_walk_transfer *s = &x->channels.pool[send];
    sk_walker *w = &x->walkers[s->walker], *to = &x->walkers[sk_class_of(x->classes, s->act->peer)];
    double *port = s->left ? &x->ports[to->node].in : &x->ports[w->node].out;
    double one = x->p->port_gap + (double)s->act->len * x->p->port_byte,
           start = sk_walk_larger(now, *port);
    *port = start + one * x->classes->times;
    if (s->left) {
        s->arrival = *port;
        arrive(x, send);
        return;
    }
    s->left = true;
    sk_walk_schedule(x, start + x->p->level[SK_AT_NET].latency, send);
    if (is_long(x, s->act))
        settle(x, w, w->sent = sk_walk_larger(w->sent, *port));
}

/* A long message starts when both sides are there: the sender asks, the receiver answers. */
static void start_long(sk_walk *x, int send, double asked)
{
    sk_walk_transfer *s = &x->channels.pool[send];
    double latency = x->p->level[s->act->level].latency;
    if (s->act->level == SK_AT_NET) {
        sk_walk_schedule(x, sk_walk_larger(s->ready + latency, asked) + latency, send);
        return;
    }
    sk_walker *w = &x->walkers[s->walker];
    s->arrival = sk_walk_larger(s->ready, asked) + latency;
    double over = s->arrival + recv_cost(x, s->act) + latency + x->p->level[s->act->level].recv;
    arrive(x, send);
    settle(x, w, w->sent = sk_walk_larger(w->sent, over));
}

static uint64_t channel_key(const sk_classes *k, int from, int to)
{
    uint64_t shift = (uint64_t)(unsigned)sk_class_shift(k, from, to),
             ends = (uint64_t)(unsigned)sk_class_of(k, from) << 20 | (unsigned)sk_class_of(k, to);
    return (shift << 40 | ends) + 1;
}

void sk_walk_recv(sk_walk *x, sk_walker *w, const sk_act *act)
{
    sk_walk_transfer t = {.act = act, .walker = (int)(w - x->walkers), .ready = w->t};
    w->pending++;
    int i = sk_channels_add(&x->channels, channel_key(x->classes, act->peer, w->rank), &t);
    if (i == SK_NO_TRANSFER) {
        x->status = SK_NOMEM;
        return;
    }
    int send = x->channels.pool[i].match;
    if (send == SK_NO_TRANSFER)
        return;
    const sk_walk_transfer *s = &x->channels.pool[send];
    if (is_long(x, s->act))
        start_long(x, send, w->t);
    else if (s->arrival >= 0)
        arrive(x, send);
}

/* The CPU time of a send. The arrival, where it follows from that alone. */
static sk_walk_transfer pay_send(sk_walk *x, sk_walker *w, const sk_act *act)
{
    const sk_level_prices *l = &x->p->level[act->level];
    double len = (double)act->len, chunk = len < SK_FIFO_CHUNK ? len : SK_FIFO_CHUNK;
    sk_walk_transfer t = {.act = act, .walker = (int)(w - x->walkers), .arrival = -1};
    if (act->fifo) {
        t.arrival = w->t + x->p->step + chunk * l->in + l->flag;
        w->t += x->p->step + len * l->in;
        t.floor = w->t + l->flag + chunk * l->out;
    } else {
        w->t += l->send + (is_long(x, act) && act->level != SK_AT_NET ? 0 : len * l->in);
        if (!is_long(x, act) && act->level != SK_AT_NET)
            t.arrival = w->t + l->latency;
    }
    t.ready = w->t;
    return t;
}

void sk_walk_send(sk_walk *x, sk_walker *w, const sk_act *act)
{
    sk_walk_transfer t = pay_send(x, w, act);
    x->messages++;
    w->pending += is_long(x, act);
    int i = sk_channels_add(&x->channels, channel_key(x->classes, w->rank, act->peer), &t);
    if (i == SK_NO_TRANSFER) {
        x->status = SK_NOMEM;
        return;
    }
    int recv = x->channels.pool[i].match;
    if (!is_long(x, act) && act->level == SK_AT_NET)
        sk_walk_schedule(x, t.ready, i);
    else if (recv != SK_NO_TRANSFER && is_long(x, act))
        start_long(x, i, x->channels.pool[recv].ready);
    else if (recv != SK_NO_TRANSFER)
        arrive(x, i);
}
