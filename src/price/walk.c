/* walk.c: run the profiles of the ranks against each other, in the order of time. */
#include "price/walk.h"

#include <stdlib.h>

#include "price/channels.h"
#include "price/events.h"
#include "shm/tuning.h"

/* A message that a rank has, or will have, at a known time. */
typedef struct arrival {
    double at, cost, floor, bytes;
} arrival;

typedef enum walker_state { RUNS, AWAITS_FLAGS, AWAITS_MESSAGES, SKIPS, OVER } walker_state;

typedef struct walker {
    const sk_profile *profile;
    int rank, node, core; /* core: an index in walk.cores; -1: its own */
    walker_state state;
    bool passed; /* it waits no more: it only wanted a core */
    uint32_t round, at;
    double t, half; /* now; and when half of a stretch was walked */

    /* of the current round */
    arrival *arrivals;
    int narrivals, cap;
    int pending; /* transfers whose end is not known yet */
    double sent; /* when the last known message of its own is over */

    /* epochs: when they were posted and released; < 0: not yet */
    double *posted, *released;
    uint32_t done; /* epochs that it has released */
    int cursor;    /* while it awaits flags: the first local rank whose flag is not known */
    int next;      /* in the list of those of its node that await flags */
    double latest; /* of the flags that are known */
} walker;

typedef struct port_state {
    double out, in, memory; /* free from then on */
} port_state;

typedef struct core_state {
    double free_at;
    int last; /* walker */
} core_state;

typedef struct walk {
    const sk_price_case *c;
    const sk_prices *p;
    const sk_classes *classes;
    walker *walkers;
    port_state *ports; /* of each node */
    core_state *cores;
    int *waiting; /* of each node: first walker that awaits flags */
    sk_events events;
    sk_channels channels;
    int64_t looks, messages;
    sk_status status;
} walk;

/* Events: a message comes to the port, or a walker goes on. */
static void schedule(walk *x, double at, int32_t what)
{
    if (!sk_events_push(&x->events, at, what))
        x->status = SK_NOMEM;
}

static void schedule_walker(walk *x, double at, const walker *w)
{
    schedule(x, at, ~(int32_t)(w - x->walkers));
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- messages ---- */

/* One transfer less whose end is not known. */
static void settle(walk *x, walker *w, double at)
{
    if (--w->pending == 0 && w->state == AWAITS_MESSAGES) {
        w->state = RUNS;
        schedule_walker(x, larger(w->t, at), w);
    }
}

static void deliver(walk *x, int recv, arrival a)
{
    walker *w = &x->walkers[x->channels.pool[recv].walker];
    if (w->narrivals == w->cap) {
        int cap = w->cap ? 2 * w->cap : 4;
        arrival *more = realloc(w->arrivals, (size_t)cap * sizeof *more);
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

static bool is_long(const walk *x, const sk_act *act)
{
    return !act->fifo && (double)act->len > x->p->level[act->level].eager;
}

/* A long message on a node, once the receiver is there. */
static double read_in_place(const walk *x, const sk_act *act)
{
    return x->p->call + (double)act->len * x->p->read;
}

/* What the receiver pays. */
static double recv_cost(const walk *x, const sk_act *act)
{
    const sk_level_prices *l = &x->p->level[act->level];
    double len = (double)act->len;
    if (act->fifo)
        return x->p->step + len * l->out;
    return l->recv +
           (is_long(x, act) && act->level != SK_AT_NET ? read_in_place(x, act) : len * l->out);
}

/* The arrival of a message is known: hand it to its receive, if that is there. */
static void arrive(walk *x, int send)
{
    const sk_walk_transfer *s = &x->channels.pool[send];
    if (s->match == SK_NO_TRANSFER)
        return;
    int recv = s->match;
    arrival a = {s->arrival, recv_cost(x, s->act), s->floor, x->channels.pool[recv].act->bytes};
    sk_channels_drop(&x->channels, send);
    deliver(x, recv, a);
}

/* A message between nodes comes to the port of its sender's node. Where several ranks of that node are of
 * one class, they come at the same time, and this one is the last of them. */
static void pass_ports(walk *x, int send, double now)
{
    sk_walk_transfer *s = &x->channels.pool[send];
    walker *w = &x->walkers[s->walker];
    int to = sk_class_of(x->classes, s->act->peer);
    double one = x->p->port_gap + (double)s->act->len * x->p->port_byte;
    port_state *from = &x->ports[w->node], *at = &x->ports[x->walkers[to].node];
    double out = larger(now, from->out);
    from->out = out + one * x->classes->times;
    double in = larger(out + x->p->level[SK_AT_NET].latency, at->in);
    s->arrival = at->in = in + one * x->classes->times;
    double over = from->out;
    bool waits = is_long(x, s->act);
    arrive(x, send);
    if (waits)
        settle(x, w, w->sent = larger(w->sent, over));
}

/* A long message starts when both sides are there: the sender asks, the receiver answers. */
static void start_long(walk *x, int send, double asked)
{
    sk_walk_transfer *s = &x->channels.pool[send];
    double latency = x->p->level[s->act->level].latency;
    if (s->act->level == SK_AT_NET) {
        schedule(x, larger(s->ready + latency, asked) + latency, send);
        return;
    }
    walker *w = &x->walkers[s->walker];
    s->arrival = larger(s->ready, asked) + latency;
    double over = s->arrival + read_in_place(x, s->act);
    arrive(x, send);
    settle(x, w, w->sent = larger(w->sent, over));
}

static uint64_t channel_key(const sk_classes *k, int from, int to)
{
    uint64_t shift = (uint64_t)(unsigned)sk_class_shift(k, from, to),
             ends = (uint64_t)(unsigned)sk_class_of(k, from) << 20 | (unsigned)sk_class_of(k, to);
    return (shift << 40 | ends) + 1;
}

static void start_recv(walk *x, walker *w, const sk_act *act)
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
static sk_walk_transfer pay_send(walk *x, walker *w, const sk_act *act)
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

static void start_send(walk *x, walker *w, const sk_act *act)
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
        schedule(x, t.ready, i);
    else if (recv != SK_NO_TRANSFER && is_long(x, act))
        start_long(x, i, x->channels.pool[recv].ready);
    else if (recv != SK_NO_TRANSFER)
        arrive(x, i);
}

/* In the order in which messages arrive. */
static int by_arrival(const void *pa, const void *pb)
{
    const arrival *a = pa, *b = pb;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->cost > b->cost) - (a->cost < b->cost);
}

/* The memory of the node serves `bytes` of this rank; when that is over. */
static double use_memory(walk *x, const walker *w, double bytes)
{
    double *memory = &x->ports[w->node].memory;
    if (bytes <= 0)
        return 0;
    *memory = larger(*memory, w->t) + bytes * x->p->memory * x->classes->times;
    return *memory;
}

/* False: the walker has to wait. Memory is used in the order of time. */
static bool do_work(walk *x, walker *w, const sk_act *act)
{
    if (act->bytes > 0 && !w->passed) {
        w->passed = true;
        schedule_walker(x, w->t, w);
        return false;
    }
    w->passed = false;
    w->t = larger(w->t + act->ns, use_memory(x, w, act->bytes));
    return true;
}

/* The end of a round. False: messages are still under way. */
static bool finish(walk *x, walker *w)
{
    if (w->pending) {
        w->state = AWAITS_MESSAGES;
        return false;
    }
    double last = w->sent, bytes = 0;
    for (int i = 0; i < w->narrivals; i++) {
        last = larger(last, w->arrivals[i].at);
        bytes += w->arrivals[i].bytes;
    }
    bool leaves = w->core >= 0 && last > w->t; /* its core to others */
    if (!w->passed && (leaves || bytes > 0)) {
        w->passed = true;
        schedule_walker(x, leaves ? last : w->t, w);
        return false;
    }
    double copied = use_memory(x, w, bytes);
    if (w->narrivals > 1)
        qsort(w->arrivals, (size_t)w->narrivals, sizeof *w->arrivals, by_arrival);
    for (int i = 0; i < w->narrivals; i++) {
        const arrival *a = &w->arrivals[i];
        w->t = larger(larger(w->t, a->at) + a->cost, a->floor);
    }
    w->t = larger(larger(w->t, w->sent), copied);
    w->sent = 0;
    w->narrivals = 0;
    w->passed = false;
    return true;
}

/* ---- flags ---- */

/* Goes over the flags that are known. False: one is not. */
static bool flags_known(const walk *x, walker *w, const sk_act *act)
{
    int n;
    const int *local = sk_machine_local_ranks(x->c->machine, w->rank, &n);
    for (; w->cursor < act->hi; w->cursor++) {
        int rank = local[w->cursor];
        const walker *other = &x->walkers[sk_class_of(x->classes, rank)];
        if (act->kind == SK_ACT_QUIESCE && rank == w->rank)
            continue;
        if (act->epoch >= other->profile->nepochs)
            continue;
        double at = (act->kind == SK_ACT_QUIESCE ? other->released : other->posted)[act->epoch];
        if (at < 0)
            return false;
        w->latest = larger(w->latest, rank == w->rank ? at : at + act->flag);
    }
    return true;
}

static void flags_seen(walk *x, walker *w, const sk_act *act)
{
    w->state = RUNS;
    if (w->core >= 0 && w->latest > w->t) {
        w->passed = true;
        schedule_walker(x, w->latest, w);
    } else {
        w->t = larger(w->latest, w->t + act->ns);
    }
}

/* False: the walker has to wait. */
static bool await_flags(walk *x, walker *w, const sk_act *act)
{
    if (w->passed) {
        w->passed = false;
        return true;
    }
    w->cursor = act->lo;
    w->latest = 0;
    if (flags_known(x, w, act)) {
        flags_seen(x, w, act);
        return !w->passed;
    }
    w->state = AWAITS_FLAGS;
    w->next = x->waiting[w->node];
    x->waiting[w->node] = (int)(w - x->walkers);
    return false;
}

/* A flag of `w` was stored: those who waited for it look again. */
static void wake_waiting(walk *x, const walker *w)
{
    int *at = &x->waiting[w->node];
    while (*at >= 0) {
        walker *v = &x->walkers[*at];
        const sk_act *act = &v->profile->acts[v->at];
        if (!flags_known(x, v, act)) {
            at = &v->next;
            continue;
        }
        *at = v->next;
        v->state = RUNS;
        v->passed = true;
        v->t = v->core >= 0 ? v->t : larger(v->latest, v->t + act->ns);
        schedule_walker(x, larger(v->t, v->latest), v);
    }
}

static void release(walk *x, walker *w, uint32_t epochs)
{
    if (w->done >= epochs)
        return;
    for (; w->done < epochs; w->done++)
        w->released[w->done] = w->t;
    wake_waiting(x, w);
}

/* ---- ranks ---- */

/* True: the walker is at the end of what is walked of a stretch, and waits there for the others. */
static bool end_round(const walk *x, walker *w)
{
    w->at = w->profile->rounds[++w->round];
    for (int i = 0; i < x->classes->nstretches; i++) {
        const sk_stretch *s = &x->classes->stretch[i];
        if (w->round == s->first + s->keep / 2)
            w->half = w->t;
        if (w->round == s->first + s->keep)
            return true;
    }
    return false;
}

/* All walkers are at the end of what is walked of a stretch. The others of its rounds take as long as the
 * last ones took for the slowest of them. False: not all are there. */
static bool skip_stretch(walk *x)
{
    const sk_stretch *s = x->classes->stretch;
    while (s < x->classes->stretch + x->classes->nstretches &&
           s->first + s->keep != x->walkers[0].round)
        s++;
    if (s == x->classes->stretch + x->classes->nstretches)
        return false;
    double slowest = 0;
    for (int i = 0; i < x->classes->n; i++) {
        const walker *w = &x->walkers[i];
        if (w->state != SKIPS || w->round != s->first + s->keep)
            return false;
        slowest = larger(slowest, w->t - w->half);
    }
    uint32_t half = s->keep - s->keep / 2;
    double ns = slowest * (s->end - s->first - s->keep) / half;
    for (int i = 0; i < x->classes->n; i++) {
        walker *w = &x->walkers[i];
        w->t += ns;
        w->round = s->end;
        w->at = w->profile->rounds[s->end];
        w->state = RUNS;
        schedule_walker(x, w->t, w);
    }
    return true;
}

/* False: the walker has to wait. */
static bool do_act(walk *x, walker *w, const sk_act *act)
{
    switch ((sk_act_kind)act->kind) {
    case SK_ACT_WORK:
        return do_work(x, w, act);
    case SK_ACT_RELEASE:
        release(x, w, act->epoch);
        return true;
    case SK_ACT_POST:
        w->posted[act->epoch] = w->t;
        wake_waiting(x, w);
        return true;
    case SK_ACT_RECV:
        start_recv(x, w, act);
        return true;
    case SK_ACT_SEND:
        start_send(x, w, act);
        return true;
    case SK_ACT_AWAIT:
    case SK_ACT_QUIESCE:
        return await_flags(x, w, act);
    case SK_ACT_FINISH:
        return finish(x, w);
    }
    return true;
}

/* Until it has to wait, or is over. */
static void go_on(walk *x, walker *w)
{
    const sk_profile *t = w->profile;
    while (w->round < t->nrounds && x->status == SK_OK) {
        for (; w->at < t->rounds[w->round + 1]; w->at++) {
            const sk_act *act = &t->acts[w->at];
            if (!do_act(x, w, act))
                return;
            x->looks += sk_act_looks(act);
        }
        if (end_round(x, w)) {
            w->state = SKIPS;
            return;
        }
    }
    release(x, w, t->nepochs);
    w->state = OVER;
}

/* A walker goes on as soon as it has a core. */
static void resume(walk *x, walker *w, double now)
{
    core_state *core = w->core >= 0 ? &x->cores[w->core] : NULL;
    int me = (int)(w - x->walkers);
    if (core && core->last != me && core->free_at > now) {
        schedule_walker(x, core->free_at, w);
        return;
    }
    if (core) {
        w->t = larger(w->t, now);
        w->t += core->last != me && core->last >= 0 ? x->p->wake : 0;
        core->last = me;
    }
    go_on(x, w);
    if (core)
        core->free_at = w->t;
}

/* ---- the whole ---- */

static void run_events(walk *x)
{
    do {
        for (sk_event e; x->status == SK_OK && sk_events_pop(&x->events, &e);)
            if (e.what < 0)
                resume(x, &x->walkers[~e.what], e.at);
            else
                pass_ports(x, e.what, e.at);
    } while (x->status == SK_OK && skip_stretch(x));
}

/* Where ranks stand for others, some messages may meet nobody. If they are few the others tell enough. If
 * ranks wait for such messages, nothing is known. */
static sk_status result(const walk *x, sk_priced *out)
{
    sk_priced r = {.exact = x->classes->exact && !x->classes->nstretches,
                   .ranks = x->classes->n,
                   .looks = x->looks,
                   .steps = x->classes->steps};
    for (int i = 0; i < x->classes->n; i++) {
        if (x->walkers[i].state != OVER)
            return r.exact ? SK_DEADLOCK : SK_TOOBIG;
        r.ns = larger(r.ns, x->walkers[i].t);
    }
    int64_t left = 0;
    for (int i = 0; i < x->channels.npool; i++)
        left += x->channels.pool[i].act != NULL;
    if (left * 8 > x->messages)
        return SK_TOOBIG;
    *out = r;
    return SK_OK;
}

static bool make_walkers(walk *x)
{
    const sk_machine *m = x->c->machine;
    int n = x->classes->n, nodes = m ? m->nnodes : x->c->nranks;
    bool shared = m && sk_machine_oversubscribed(m);
    int ncores = shared ? m->cores : 0;
    for (int i = 0; shared && i < m->nranks; i++)
        ncores = sk_core_of(m, i) >= ncores ? sk_core_of(m, i) + 1 : ncores;
    size_t cores = (size_t)nodes * (size_t)ncores;
    x->walkers = calloc((size_t)n, sizeof *x->walkers);
    x->ports = calloc((size_t)nodes, sizeof *x->ports);
    x->waiting = malloc((size_t)nodes * sizeof *x->waiting);
    x->cores = calloc(cores + 1, sizeof *x->cores);
    if (!x->walkers || !x->ports || !x->waiting || !x->cores)
        return false;
    for (int i = 0; i < nodes; i++)
        x->waiting[i] = -1;
    for (size_t i = 0; i < cores; i++)
        x->cores[i].last = -1;
    for (int i = 0; i < n; i++) {
        walker *w = &x->walkers[i];
        uint32_t epochs = x->classes->profile[i].nepochs;
        w->profile = &x->classes->profile[i];
        w->rank = sk_class_rank(x->classes, x->classes->base * x->classes->unit + i);
        w->node = m ? m->node[w->rank] : w->rank;
        w->core = shared ? w->node * ncores + sk_core_of(m, w->rank) : -1;
        w->posted = malloc((2 * (size_t)epochs + 1) * sizeof *w->posted);
        if (!w->posted)
            return false;
        w->released = w->posted + epochs;
        for (uint32_t e = 0; e < 2 * epochs; e++)
            w->posted[e] = -1;
        schedule_walker(x, 0, w);
    }
    return x->status == SK_OK;
}

static void free_walk(walk *x)
{
    for (int i = 0; i < x->classes->n && x->walkers; i++) {
        free(x->walkers[i].arrivals);
        free(x->walkers[i].posted);
    }
    free(x->walkers);
    free(x->ports);
    free(x->waiting);
    free(x->cores);
    sk_events_free(&x->events);
    sk_channels_free(&x->channels);
}

sk_status sk_price_call(const sk_price_case *c, sk_priced *out)
{
    sk_classes classes;
    sk_status st = sk_classes_new(c, &classes);
    if (st != SK_OK)
        return st;
    walk x = {.c = c, .p = c->prices, .classes = &classes};
    if (make_walkers(&x))
        run_events(&x);
    else
        x.status = SK_NOMEM;
    st = x.status == SK_OK ? result(&x, out) : x.status;
    free_walk(&x);
    sk_classes_free(&classes);
    return st;
}
