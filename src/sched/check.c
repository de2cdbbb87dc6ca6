/* check.c: do steps of one round get in each other's way? */
#include <stdlib.h>
#include <string.h>

#include "sched/sched_inner.h"

typedef struct touch {
    int64_t lo, hi;
    uint32_t buf, step;
    bool write;
    bool append; /* to a packet: several may stand together */
} touch;

typedef struct touches {
    touch *at;
    size_t n, cap;
    bool failed;
} touches;

static void add(touches *t, touch x)
{
    if (x.lo >= x.hi || t->failed)
        return;
    touch *last = t->n ? &t->at[t->n - 1] : NULL;
    if (last && last->step == x.step && last->buf == x.buf && last->write == x.write &&
        last->hi == x.lo) {
        last->hi = x.hi;
        return;
    }
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 64;
        touch *p = realloc(t->at, cap * sizeof *p);
        if (!p) {
            t->failed = true;
            return;
        }
        t->at = p;
        t->cap = cap;
    }
    t->at[t->n++] = x;
}

/* Element by element: the holes of a type belong to nobody. */
static void add_span(touches *t, const struct sk_sched_view *v, sk_span s, uint32_t step,
                     bool write)
{
    const sk_type *ty = &v->types[s.type];
    if (s.len == 0)
        return;
    if (ty->contig) {
        add(t, (touch){s.off, s.off + s.len, s.buf, step, write, false});
        return;
    }
    for (int64_t i = 0; i < s.len / ty->size; i++) {
        int64_t at = s.off + i * ty->extent + ty->true_lb;
        add(t, (touch){at, at + ty->true_extent, s.buf, step, write, false});
    }
}

static void add_packet(touches *t, const struct sk_sched_view *v, uint32_t packet, uint32_t step,
                       bool write, bool append)
{
    const sk_packet_info *p = &v->packets[packet];
    add(t, (touch){p->off, p->off + p->cap, SK_SCRATCH, step, write, append});
}

static void add_packets(touches *t, const struct sk_sched_view *v, const sk_step *st, uint32_t step)
{
    switch (st->kind) {
    case SK_STEP_PUT:
        add_packet(t, v, st->packet, step, true, true);
        break;
    case SK_STEP_PRECV:
        add_packet(t, v, st->packet, step, true, false);
        break;
    case SK_STEP_RELAY:
        add_packet(t, v, (uint32_t)st->hi, step, true, true);
        add_packet(t, v, st->packet, step, false, false);
        break;
    case SK_STEP_PSEND:
    case SK_STEP_GET:
        add_packet(t, v, st->packet, step, false, false);
        break;
    default:
        break;
    }
}

static int by_place(const void *pa, const void *pb)
{
    const touch *a = pa, *b = pb;
    if (a->buf != b->buf)
        return a->buf < b->buf ? -1 : 1;
    if (a->lo != b->lo)
        return a->lo < b->lo ? -1 : 1;
    return 0;
}

/* Sorted by place, the reach of reads and of writes so far is enough to see any conflict. */
static const touch *clash(touches *t, const touch **other)
{
    qsort(t->at, t->n, sizeof *t->at, by_place);
    const touch *far[2] = {NULL, NULL}; /* furthest read, furthest write */
    for (size_t i = 0; i < t->n; i++) {
        const touch *x = &t->at[i];
        for (int w = 0; w < 2; w++) {
            if ((w || x->write) && far[w] && far[w]->buf == x->buf && far[w]->hi > x->lo &&
                !(x->append && far[w]->append)) {
                *other = far[w];
                return x;
            }
        }
        const touch **f = &far[x->write];
        if (!*f || (*f)->buf != x->buf || (*f)->hi < x->hi)
            *f = x;
    }
    return NULL;
}

/* Slots of local ranks are memory of others, which nobody writes once it is posted. */
static bool of_local_ranks(const sk_step *st)
{
    switch (st->kind) {
    case SK_STEP_TAKE:
    case SK_STEP_FOLD:
    case SK_STEP_JOIN:
    case SK_STEP_READ:
        return true;
    default:
        return false;
    }
}

/* What is exported is read by local ranks until this rank knows them beyond that epoch. */
typedef struct exposures {
    uint32_t first; /* step that may still export something */
    uint32_t below; /* epochs below this one are quiesced */
} exposures;

static bool exposes(const exposures *e, const sk_step *st)
{
    return st->kind == SK_STEP_EXPORT && st->packet >= e->below;
}

static void leave_round(exposures *e, const struct sk_sched_view *v, const sk_round *rd)
{
    for (uint32_t i = rd->first; i < sk_round_end(rd); i++) {
        uint32_t done = sk_step_quiesces(&v->steps[i]);
        e->below = done > e->below ? done : e->below;
    }
    while (e->first < sk_round_end(rd) && !exposes(e, &v->steps[e->first]))
        e->first++;
}

static void add_round(touches *t, const struct sk_sched_view *v, const sk_round *rd,
                      const exposures *e)
{
    t->n = 0;
    for (uint32_t i = rd->first; i < sk_round_end(rd); i++) {
        const sk_step *st = &v->steps[i];
        add_packets(t, v, st, i);
        if (!of_local_ranks(st))
            add_span(t, v, st->a, i, false);
        add_span(t, v, st->b, i, true);
    }
    for (uint32_t i = e->first; i < rd->first; i++)
        if (exposes(e, &v->steps[i]))
            add_span(t, v, v->steps[i].a, i, false);
}

bool sk_sched_disjoint(const sk_sched *s, char *why, size_t size)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    touches t = {0};
    exposures single_copy = {0};
    bool ok = true;
    for (uint32_t r = 0; r < v->nrounds && ok; r++) {
        const sk_round *rd = &v->rounds[r];
        add_round(&t, v, rd, &single_copy);
        leave_round(&single_copy, v, rd);
        const touch *other = NULL, *x = t.n ? clash(&t, &other) : NULL;
        if (x) {
            snprintf(why, size, "round %u: steps %d and %d both touch buffer %u at byte %lld", r,
                     (int)(other->step - rd->first), (int)(x->step - rd->first), x->buf,
                     (long long)x->lo);
            ok = false;
        }
    }
    if (t.failed) {
        snprintf(why, size, "out of memory");
        ok = false;
    }
    free(t.at);
    return ok;
}
