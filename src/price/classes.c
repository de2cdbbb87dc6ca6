/* classes.c: find the ranks that behave alike, and the rounds that do. */
#include "price/classes.h"

#include <stdlib.h>

enum {
    WALK_ALL = 1 << 16,     /* looks up to which all ranks are walked */
    WALK_MOST = 1 << 21,    /* the same where ranks are not alike */
    WALK_CLASSES = 1 << 23, /* the same for one rank of each class */
    MAX_WALKED = 8192,      /* ranks: each may take time in proportion to all, to be built */
    SAMPLES = 5,            /* ranks by which the work of all is estimated */
    KEEP_LEAST = 32,        /* periods of a stretch that are walked ... */
    KEEP_MOST = 1024,
    KEEP_TIMES = 4, /* ... and times the classes: what slows one down has then come to all others */
    PERIODS = 4,    /* the longest period of a stretch, in rounds */
};

/* Bytes or ns by which ranks may differ and still be alike: what is left when a vector is cut, and what
 * that costs. */
static bool near(double a, double b)
{
    double more = a > b ? a : b, less = a > b ? b : a;
    return more - less <= 64 + 0.02 * more;
}

static bool same_kind(const sk_act *a, const sk_act *b)
{
    return a->kind == b->kind && a->level == b->level && a->fifo == b->fifo &&
           a->hi - a->lo == b->hi - b->lo && near((double)a->len, (double)b->len) &&
           near(a->ns, b->ns);
}

static bool has_peer(const sk_act *act)
{
    return act->peer >= 0 &&
           (act->kind == SK_ACT_SEND || act->kind == SK_ACT_RECV || act->kind == SK_ACT_AWAIT);
}

/* ---- the machine repeats itself ---- */

static int image(const sk_classes *x, int nranks, int name, int shift)
{
    if (x->by_xor)
        return (name / x->unit ^ shift) * x->unit + name % x->unit;
    return (int)(((int64_t)name + (int64_t)shift * x->unit) % nranks);
}

/* Does the symmetry take the ranks of a node (socket) to those of a node (socket)? */
static bool keeps(const sk_classes *x, int nranks, const int *group, int ngroups, int shift)
{
    int *to = malloc((size_t)ngroups * sizeof *to);
    bool ok = to != NULL;
    for (int i = 0; i < ngroups && ok; i++)
        to[i] = -1;
    for (int i = 0; i < nranks && ok; i++) {
        int g = group[sk_class_rank(x, image(x, nranks, i, shift))],
            *at = &to[group[sk_class_rank(x, i)]];
        ok = *at < 0 || *at == g;
        *at = g;
    }
    free(to);
    return ok;
}

static bool machine_repeats(const sk_classes *x, const sk_machine *m, int nranks)
{
    for (int shift = 1; m && shift < x->nunits; shift *= 2) {
        if (!keeps(x, nranks, m->node, m->nnodes, shift) ||
            !keeps(x, nranks, m->socket, m->nsockets, shift))
            return false;
        if (!x->by_xor)
            break; /* the others repeat this one */
    }
    return true;
}

/* Ranks on the node of a rank that are of its class. */
static int count_on_node(const sk_classes *x, const sk_machine *m, int rank)
{
    int n, count = 0;
    const int *local = sk_machine_local_ranks(m, rank, &n);
    for (int i = 0; i < n; i++)
        count += sk_class_of(x, local[i]) == sk_class_of(x, rank);
    return count;
}

/* Does the machine look the same after so many ranks? */
static bool set_unit(sk_classes *x, const sk_price_case *c, int unit)
{
    const sk_machine *m = c->machine;
    x->unit = unit;
    x->nunits = c->nranks / unit;
    x->base = x->nunits / 2;
    bool power = (x->nunits & (x->nunits - 1)) == 0;
    if (c->nranks % unit || x->nunits == 1 || (x->by_xor && !power) ||
        !machine_repeats(x, m, c->nranks))
        return false;
    /* Ranks that share a core or a port wait for each other. If there is neither, they do not. */
    bool apart = !m || (m->nnodes == 1 && !sk_machine_oversubscribed(m));
    x->times = apart ? 1 : count_on_node(x, m, sk_class_rank(x, x->base * unit));
    return true;
}

/* ---- profiles ---- */

static sk_status profile_of(const sk_price_case *c, int rank, sk_profile *out)
{
    sk_sched *s = NULL;
    sk_status st = c->build(c->ctx, rank, &s);
    if (st == SK_OK)
        st = sk_profile_new(s, rank, c->machine, c->prices, out);
    sk_sched_free(s);
    if (st == SK_OK && !out->sizes_known) {
        sk_profile_free(out);
        st = SK_TOOBIG;
    }
    return st;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* What it would take to build and walk all ranks, from a few of them. One rank of each node, or a root,
 * may have much more to do than the others. */
static sk_status estimate(const sk_price_case *c, int64_t *out)
{
    int p = c->nranks;
    int ranks[SAMPLES] = {c->root, (c->root + 1) % p, p / 3, p / 2, p - 1};
    int64_t looks[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        sk_profile t;
        sk_status st = profile_of(c, ranks[i], &t);
        if (st != SK_OK)
            return st;
        looks[i] = t.looks + t.steps / 4;
        sk_profile_free(&t);
    }
    qsort(looks, SAMPLES, sizeof *looks, by_value);
    *out = looks[SAMPLES / 2] * p + looks[SAMPLES - 1] * (c->machine ? c->machine->nnodes : 1);
    return SK_OK;
}

/* ---- schedules have the symmetry ---- */

/* Rank `a` has profile `ta`, and rank `b` is its image. */
static bool alike(const sk_classes *x, int a, const sk_profile *ta, int b, const sk_profile *tb)
{
    if (ta->nacts != tb->nacts || ta->nrounds != tb->nrounds || ta->nepochs != tb->nepochs)
        return false;
    for (uint32_t i = 0; i < ta->nacts; i++) {
        const sk_act *p = &ta->acts[i], *q = &tb->acts[i];
        if (!same_kind(p, q) || has_peer(p) != has_peer(q))
            return false;
        if (has_peer(p) && (sk_class_of(x, p->peer) != sk_class_of(x, q->peer) ||
                            sk_class_shift(x, a, p->peer) != sk_class_shift(x, b, q->peer)))
            return false;
    }
    return true;
}

/* How many of some other ranks of a class are like the one that is walked. */
typedef struct alike_count {
    int alike, seen;
} alike_count;

static sk_status check_class(const sk_classes *x, const sk_price_case *c, int class,
                             alike_count *count)
{
    int n = x->nunits, root = sk_class_name(x, c->root) / x->unit;
    int units[] = {(x->base + 1) % n, (x->base + n - 1) % n, 0, root};
    int rank = sk_class_rank(x, x->base * x->unit + class);
    sk_profile first;
    sk_status st = profile_of(c, rank, &first);
    if (st != SK_OK)
        return st;
    for (int i = 0; i < 4 && st == SK_OK && 2 * count->alike >= count->seen; i++) {
        int other = sk_class_rank(x, units[i] * x->unit + class);
        sk_profile t;
        if (units[i] == x->base || (i == 3 && units[i] == 0))
            continue;
        st = profile_of(c, other, &t);
        if (st != SK_OK)
            break;
        count->alike += alike(x, rank, &first, other, &t);
        count->seen++;
        sk_profile_free(&t);
    }
    sk_profile_free(&first);
    return st;
}

/* All others must be like the one that is walked, and all ranks of a node walked; or, unless `strict`, half of
 * them: ranks at some places, such as the first, may differ from all others. */
static sk_status check_symmetry(sk_classes *x, const sk_price_case *c, bool strict, bool *same)
{
    int classes[] = {0, 1 % x->unit, x->unit - 1};
    sk_status st = SK_OK;
    x->exact = x->times == 1;
    *same = x->exact || !strict;
    for (int i = 0; i < 3 && *same && st == SK_OK; i++) {
        alike_count count = {0};
        if (i > 0 && classes[i] <= classes[i - 1])
            continue;
        st = check_class(x, c, classes[i], &count);
        *same = (strict ? 1 : 2) * count.alike >= count.seen;
        x->exact &= count.alike == count.seen;
    }
    return st;
}

/* ---- stretches ---- */

static bool round_alike(const sk_profile *t, uint32_t a, uint32_t b)
{
    uint32_t n = t->rounds[a + 1] - t->rounds[a];
    if (n != t->rounds[b + 1] - t->rounds[b])
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!same_kind(&t->acts[t->rounds[a] + i], &t->acts[t->rounds[b] + i]))
            return false;
    return true;
}

/* The end of the rounds from `first` on that repeat each other with this period, at all classes. */
static uint32_t end_of(const sk_classes *x, uint32_t first, uint32_t period)
{
    uint32_t end = x->profile[0].nrounds;
    for (int i = 0; i < x->n; i++)
        for (uint32_t r = first + period; r < end; r++)
            if (!round_alike(&x->profile[i], r - period, r))
                end = r;
    return end;
}

static void find_stretches(sk_classes *x)
{
    for (int i = 0; i < x->n; i++)
        if (x->profile[i].nepochs || x->profile[i].nrounds != x->profile[0].nrounds)
            return;
    uint32_t keep = (uint32_t)(KEEP_TIMES * x->n);
    keep = keep < KEEP_LEAST ? KEEP_LEAST : keep > KEEP_MOST ? KEEP_MOST : keep;
    for (uint32_t r = 0; r + 2 * keep < x->profile[0].nrounds && x->nstretches < SK_STRETCHES;) {
        sk_stretch best = {.first = r, .end = r + 1};
        for (uint32_t period = 1; period <= PERIODS; period++) {
            uint32_t end = end_of(x, r, period), whole = (end - r) / period * period;
            if (whole > 2 * keep * period && r + whole > best.end)
                best = (sk_stretch){.first = r, .keep = keep * period, .end = r + whole};
        }
        if (best.keep)
            x->stretch[x->nstretches++] = best;
        r = best.end;
    }
}

/* ---- */

static sk_status profile_classes(sk_classes *x, const sk_price_case *c)
{
    x->n = x->unit;
    x->profile = calloc((size_t)x->n, sizeof *x->profile);
    if (!x->profile)
        return SK_NOMEM;
    sk_status st = SK_OK;
    int64_t looks = 0;
    for (int i = 0; i < x->n && st == SK_OK; i++) {
        int rank = sk_class_rank(x, x->base * x->unit + i);
        st = profile_of(c, rank, &x->profile[i]);
        looks += x->profile[i].looks;
        x->steps += x->profile[i].steps;
    }
    if (st == SK_OK && looks > WALK_ALL && !c->all)
        find_stretches(x);
    return st;
}

/* Is it not too much work to walk so many classes? All ranks are `looks`. */
static bool may_walk(const sk_price_case *c, int64_t looks, int classes)
{
    return classes <= MAX_WALKED && looks / c->nranks * classes <= WALK_CLASSES;
}

/* The smallest unit of a symmetry that the machine and the schedules have; false: there is none. */
static sk_status find_symmetry(sk_classes *x, const sk_price_case *c, int64_t looks, bool strict,
                               bool *found)
{
    const sk_machine *m = c->machine;
    int units[] = {1, m ? m->max_per_socket : 1, m ? m->max_per_node : 1};
    sk_status st = SK_OK;
    *found = false;
    for (int i = 0; i < 6 && !*found && st == SK_OK; i++) {
        int unit = units[i / 2];
        *x = (sk_classes){.by_xor = i % 2, .rename = c->rename, .times = 1};
        if ((i < 2 || unit > units[i / 2 - 1]) && may_walk(c, looks, unit) && set_unit(x, c, unit))
            st = check_symmetry(x, c, strict, found);
    }
    return st;
}

/* Which ranks are walked. */
static sk_status choose(sk_classes *x, const sk_price_case *c)
{
    int64_t looks = 0;
    bool found = false;
    sk_status st = c->all ? SK_OK : estimate(c, &looks);
    bool many = !c->all && c->nranks > MAX_WALKED;
    if (st == SK_OK && (looks > WALK_ALL || many))
        st = find_symmetry(x, c, looks, true, &found);
    if (st == SK_OK && !found && (looks > WALK_MOST || many))
        st = find_symmetry(x, c, looks, false, &found);
    if (st != SK_OK || found)
        return st;
    if (looks <= WALK_MOST && !many) {
        *x = (sk_classes){
            .unit = c->nranks, .nunits = 1, .exact = true, .rename = c->rename, .times = 1};
        return SK_OK;
    }
    /* The ranks of the root's node stand for all or, if some nodes differ, those of a node in the middle. */
    *x = (sk_classes){.rename = c->rename, .times = 1};
    bool repeats = set_unit(x, c, c->machine ? c->machine->max_per_node : 1);
    x->nunits = (c->nranks + x->unit - 1) / x->unit;
    x->base = repeats ? sk_class_name(x, c->root) / x->unit : x->nunits / 2;
    return x->nunits > 2 && may_walk(c, looks, x->unit) ? SK_OK : SK_TOOBIG;
}

sk_status sk_classes_new(const sk_price_case *c, sk_classes *out)
{
    sk_classes x = {0};
    sk_status st = choose(&x, c);
    if (st == SK_OK)
        st = profile_classes(&x, c);
    if (st == SK_OK)
        *out = x;
    else
        sk_classes_free(&x);
    return st;
}

void sk_classes_free(sk_classes *x)
{
    for (int i = 0; i < x->n && x->profile; i++)
        sk_profile_free(&x->profile[i]);
    free(x->profile);
    *x = (sk_classes){0};
}
