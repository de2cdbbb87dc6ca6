/* walk.c: run the profiles of the ranks against each other, in the order of time. */
#include "price/walk.h"

#include <stdlib.h>

#include "price/walk_inner.h"

/* In the order in which messages arrive. */
static int by_arrival(const void *pa, const void *pb)
{
    const sk_walk_arrival *a = pa, *b = pb;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->cost > b->cost) - (a->cost < b->cost);
}

/* The memory of the node serves `bytes` of this rank; when that is over. */
static double use_memory(sk_walk *x, const sk_walker *w, double bytes)
{
    double *memory = &x->ports[w->node].memory;
    if (bytes <= 0)
        return 0;
    *memory = sk_walk_larger(*memory, w->t) + bytes * x->p->memory * x->classes->times;
    return *memory;
}

/* False: the walker has to wait. Memory is used in the order of time. */
static bool do_work(sk_walk *x, sk_walker *w, const sk_act *act)
{
    if (act->bytes > 0 && !w->passed) {
        w->passed = true;
        sk_walk_resume_at(x, w->t, w);
        return false;
    }
    w->passed = false;
    w->t = sk_walk_larger(w->t + act->ns, use_memory(x, w, act->bytes));
    return true;
}

/* The end of a round. False: messages are still under way. */
static bool finish(sk_walk *x, sk_walker *w)
{
    if (w->pending) {
        w->state = AWAITS_MESSAGES;
        return false;
    }
    double last = w->sent, bytes = 0;
    for (int i = 0; i < w->narrivals; i++) {
        last = sk_walk_larger(last, w->arrivals[i].at);
        bytes += w->arrivals[i].bytes;
    }
    bool leaves = w->core >= 0 && last > w->t; /* its core to others */
    if (!w->passed && (leaves || bytes > 0)) {
        w->passed = true;
        sk_walk_resume_at(x, leaves ? last : w->t, w);
        return false;
    }
    double copied = use_memory(x, w, bytes);
    if (w->narrivals > 1)
        qsort(w->arrivals, (size_t)w->narrivals, sizeof *w->arrivals, by_arrival);
    for (int i = 0; i < w->narrivals; i++) {
        const sk_walk_arrival *a = &w->arrivals[i];
        w->t = sk_walk_larger(sk_walk_larger(w->t, a->at) + a->cost, a->floor);
    }
    w->t = sk_walk_larger(sk_walk_larger(w->t, w->sent), copied);
    w->sent = 0;
    w->narrivals = 0;
    w->passed = false;
    return true;
}

/* ---- flags ---- */

/* The index of an epoch of a call among those of all. */
static uint32_t epoch_of(const sk_walker *w, int call, uint32_t epoch)
{
    return (uint32_t)call * w->profile->nepochs + epoch;
}

/* Goes over the flags that are known. False: one is not. */
static bool flags_known(const sk_walk *x, sk_walker *w, const sk_act *act)
{
    int n;
    const int *local = sk_machine_local_ranks(x->c->machine, w->rank, &n);
    for (; w->cursor < act->hi; w->cursor++) {
        int rank = local[w->cursor];
        const sk_walker *other = &x->walkers[sk_class_of(x->classes, rank)];
        if (act->kind == SK_ACT_QUIESCE && rank == w->rank)
            continue;
        if (act->epoch >= other->profile->nepochs)
            continue;
        double at =
            (act->kind == SK_ACT_QUIESCE ? other->released
                                         : other->posted)[epoch_of(other, w->call, act->epoch)];
        if (at < 0)
            return false;
        w->latest = sk_walk_larger(w->latest, rank == w->rank ? at : at + act->flag);
    }
    return true;
}

static void flags_seen(sk_walk *x, sk_walker *w, const sk_act *act)
{
    w->state = RUNS;
    if (w->core >= 0 && w->latest > w->t) {
        w->passed = true;
        sk_walk_resume_at(x, w->latest, w);
    } else {
        w->t = sk_walk_larger(w->latest, w->t + act->ns);
    }
}

/* False: the walker has to wait. */
static bool await_flags(sk_walk *x, sk_walker *w, const sk_act *act)
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
static void wake_waiting(sk_walk *x, const sk_walker *w)
{
    int *at = &x->waiting[w->node];
    while (*at >= 0) {
        sk_walker *v = &x->walkers[*at];
        const sk_act *act = &v->profile->acts[v->at];
        if (!flags_known(x, v, act)) {
            at = &v->next;
            continue;
        }
        *at = v->next;
        v->state = RUNS;
        v->passed = true;
        v->t = v->core >= 0 ? v->t : sk_walk_larger(v->latest, v->t + act->ns);
        sk_walk_resume_at(x, sk_walk_larger(v->t, v->latest), v);
    }
}

static void release(sk_walk *x, sk_walker *w, uint32_t epoch)
{
    uint32_t epochs = epoch_of(w, w->call, epoch);
    if (w->done >= epochs)
        return;
    for (; w->done < epochs; w->done++)
        w->released[w->done] = w->t;
    wake_waiting(x, w);
}

/* ---- ranks ---- */

/* True: the walker is at the end of what is walked of a stretch, and waits there for the others. */
static bool end_round(const sk_walk *x, sk_walker *w)
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
static bool skip_stretch(sk_walk *x)
{
    const sk_stretch *s = x->classes->stretch;
    while (s < x->classes->stretch + x->classes->nstretches &&
           s->first + s->keep != x->walkers[0].round)
        s++;
    if (s == x->classes->stretch + x->classes->nstretches)
        return false;
    double slowest = 0;
    for (int i = 0; i < x->classes->n; i++) {
        const sk_walker *w = &x->walkers[i];
        if (w->state != SKIPS || w->round != s->first + s->keep)
            return false;
        slowest = sk_walk_larger(slowest, w->t - w->half);
    }
    uint32_t half = s->keep - s->keep / 2;
    double ns = slowest * (s->end - s->first - s->keep) / half;
    for (int i = 0; i < x->classes->n; i++) {
        sk_walker *w = &x->walkers[i];
        w->t += ns;
        w->round = s->end;
        w->at = w->profile->rounds[s->end];
        w->state = RUNS;
        sk_walk_resume_at(x, w->t, w);
    }
    return true;
}

/* False: the walker has to wait. */
static bool do_act(sk_walk *x, sk_walker *w, const sk_act *act)
{
    switch ((sk_act_kind)act->kind) {
    case SK_ACT_WORK:
        return do_work(x, w, act);
    case SK_ACT_RELEASE:
        release(x, w, act->epoch);
        return true;
    case SK_ACT_POST:
        w->posted[epoch_of(w, w->call, act->epoch)] = w->t;
        wake_waiting(x, w);
        return true;
    case SK_ACT_RECV:
        sk_walk_recv(x, w, act);
        return true;
    case SK_ACT_SEND:
        sk_walk_send(x, w, act);
        return true;
    case SK_ACT_AWAIT:
    case SK_ACT_QUIESCE:
        return await_flags(x, w, act);
    case SK_ACT_FINISH:
        return finish(x, w);
    }
    return true;
}

/* A walker has ended a call. False: it was the last one. */
static bool next_call(sk_walk *x, sk_walker *w)
{
    release(x, w, w->profile->nepochs);
    w->round = w->at = 0;
    return ++w->call < x->calls;
}

/* Until it has to wait, or is over. */
static void go_on(sk_walk *x, sk_walker *w)
{
    const sk_profile *t = w->profile;
    do {
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
    } while (x->status == SK_OK && next_call(x, w));
    w->state = OVER;
}

/* A walker goes on as soon as it has a core. */
static void resume(sk_walk *x, sk_walker *w, double now)
{
    sk_walk_core *core = w->core >= 0 ? &x->cores[w->core] : NULL;
    int me = (int)(w - x->walkers);
    if (core && core->last != me && core->free_at > now) {
        sk_walk_resume_at(x, core->free_at, w);
        return;
    }
    if (core) {
        w->t = sk_walk_larger(w->t, now);
        w->t += core->last != me && core->last >= 0 ? x->p->wake : 0;
        core->last = me;
    }
    go_on(x, w);
    if (core)
        core->free_at = w->t;
}

/* ---- the whole ---- */

static void run_events(sk_walk *x)
{
    do {
        for (sk_event e; x->status == SK_OK && sk_events_pop(&x->events, &e);)
            if (e.what < 0)
                resume(x, &x->walkers[~e.what], e.at);
            else
                sk_walk_pass_port(x, e.what, e.at);
    } while (x->status == SK_OK && skip_stretch(x));
}

/* Where ranks stand for others, some messages may meet nobody. If they are few the others tell enough. If
 * ranks wait for such messages, nothing is known. */
static sk_status result(const sk_walk *x, sk_priced *out)
{
    sk_priced r = {.exact = x->classes->exact && !x->classes->nstretches,
                   .ranks = x->classes->n,
                   .looks = x->looks,
                   .steps = x->classes->steps};
    for (int i = 0; i < x->classes->n; i++) {
        const sk_walker *w = &x->walkers[i];
        if (w->state != OVER)
            return r.exact ? SK_DEADLOCK : SK_TOOBIG;
        r.ns = sk_walk_larger(r.ns, w->t);
    }
    int64_t left = 0;
    for (int i = 0; i < x->channels.npool; i++)
        left += x->channels.pool[i].act != NULL;
    if (left * 8 > x->messages)
        return SK_TOOBIG;
    *out = r;
    return SK_OK;
}

static bool make_walkers(sk_walk *x)
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
        sk_walker *w = &x->walkers[i];
        uint32_t epochs = x->classes->profile[i].nepochs * (uint32_t)x->calls;
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
        sk_walk_resume_at(x, 0, w);
    }
    return x->status == SK_OK;
}

static void free_walk(sk_walk *x)
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

/* Are so many calls little work? */
static bool may_repeat(const sk_classes *k, int calls)
{
    enum { MOST_LOOKS = 1 << 18 };
    int64_t looks = 0;
    for (int i = 0; i < k->n; i++)
        looks += k->profile[i].looks;
    return !k->nstretches && looks <= MOST_LOOKS / calls;
}

static sk_status walk_calls(const sk_price_case *c, const sk_classes *classes, int calls,
                            sk_priced *out)
{
    sk_walk x = {.c = c, .p = c->prices, .classes = classes, .calls = calls};
    if (make_walkers(&x))
        run_events(&x);
    else
        x.status = SK_NOMEM;
    sk_status st = x.status == SK_OK ? result(&x, out) : x.status;
    free_walk(&x);
    return st;
}

sk_status sk_price_call(const sk_price_case *c, sk_priced *out)
{
    sk_classes classes;
    sk_priced many;
    sk_status st = sk_classes_new(c, &classes);
    if (st != SK_OK)
        return st;
    st = walk_calls(c, &classes, 1, out);
    if (st == SK_OK && c->calls > 1 && may_repeat(&classes, c->calls) &&
        walk_calls(c, &classes, c->calls, &many) == SK_OK)
        out->each = many.ns / c->calls;
    sk_classes_free(&classes);
    return st;
}
