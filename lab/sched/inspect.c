/* inspect.c: look at a frozen schedule: print it, count what it moves, check its rounds. */
#include "lab/sched/inspect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- print ---- */

static const char *const buf_name[] = {"send", "recv", "scratch", "slot", "common"};

static void print_span(sk_span s, FILE *out)
{
    fputs(buf_name[s.buf & SK_BUF_MASK], out);
    if (sk_buf_is_slot(s.buf))
        fprintf(out, " %u", sk_buf_epoch(s.buf));
    fprintf(out, "[%" PRId64 " +%" PRId64 "]", s.off, s.len);
}

static void print_way(const sk_step *st, FILE *out)
{
    print_span(st->a, out);
    fprintf(out, " to ");
    print_span(st->b, out);
}

/* Steps of epochs. */
static void print_epoch_step(const sk_step *st, FILE *out)
{
    switch (st->kind) {
    case SK_STEP_OPEN:
        fprintf(out, "open            epoch %u", st->packet);
        break;
    case SK_STEP_POST:
        fprintf(out, "post            epoch %u", st->packet);
        break;
    case SK_STEP_EXPORT:
        fprintf(out, "export          ");
        print_span(st->a, out);
        fprintf(out, " at ");
        print_span(st->b, out);
        break;
    case SK_STEP_TAKE:
        if (st->peer < 0)
            fprintf(out, "take            ");
        else
            fprintf(out, "take   <- %-5d ", st->peer);
        print_way(st, out);
        break;
    case SK_STEP_FOLD:
        fprintf(out, "fold   ranks %d..%d ", st->lo, st->hi - 1);
        print_way(st, out);
        break;
    case SK_STEP_JOIN:
        fprintf(out, "join   all ranks ");
        print_way(st, out);
        break;
    case SK_STEP_AWAIT:
        fprintf(out, "await  ranks %d..%d epoch %u", st->lo, st->hi - 1, st->packet);
        break;
    case SK_STEP_READ:
        fprintf(out, "read   <- %-5d from byte %" PRId64 " of ", st->peer, sk_step_read_at(st));
        print_way(st, out);
        break;
    case SK_STEP_QUIESCE:
        fprintf(out, "quiesce         epoch %u", st->packet);
        break;
    default:
        break;
    }
}

static void print_step(const sk_step *st, FILE *out)
{
    switch (st->kind) {
    case SK_STEP_RECV:
        fprintf(out, st->packet ? "intra  <- %-5d " : "recv   <- %-5d ", st->peer);
        print_span(st->b, out);
        break;
    case SK_STEP_SEND:
        fprintf(out, st->packet ? "intra  -> %-5d " : "send   -> %-5d ", st->peer);
        print_span(st->a, out);
        break;
    case SK_STEP_COPY:
    case SK_STEP_REDUCE:
        fprintf(out, st->kind == SK_STEP_COPY ? "copy            " : "reduce          ");
        print_way(st, out);
        break;
    case SK_STEP_PUT:
        fprintf(out, "put    packet %u key %d from %s", st->packet, st->lo, st->hi ? "sized " : "");
        print_span(st->a, out);
        break;
    case SK_STEP_PRECV:
        fprintf(out, "recv   <- %-5d packet %u", st->peer, st->packet);
        break;
    case SK_STEP_PSEND:
        fprintf(out, "send   -> %-5d packet %u keys %d..%d", st->peer, st->packet, st->lo,
                st->hi - 1);
        break;
    case SK_STEP_GET:
        fprintf(out, "get    packet %u key %d to %s", st->packet, st->lo, st->hi ? "sized " : "");
        print_span(st->b, out);
        break;
    case SK_STEP_RELAY:
        fprintf(out, "relay  packet %u key %d to packet %d key %d", st->packet, st->lo, st->hi,
                st->peer);
        break;
    default:
        print_epoch_step(st, out);
        break;
    }
    fputc('\n', out);
}

void sk_sched_print(const sk_sched *s, FILE *out)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    for (uint32_t r = 0; r < v->nrounds; r++) {
        const sk_round *rd = &v->rounds[r];
        fprintf(out, "round %u\n", r);
        for (uint32_t i = rd->first; i < sk_round_end(rd); i++) {
            fprintf(out, "  ");
            print_step(&v->steps[i], out);
        }
    }
    for (uint32_t t = 0; t < v->nepochs; t++)
        if (v->epochs[t].slot_bytes == SK_NO_PART)
            fprintf(out, "epoch %u: no part\n", t);
        else
            fprintf(out, "epoch %u: slots of %" PRId64 " bytes%s\n", t, v->epochs[t].slot_bytes,
                    v->epochs[t].all ? ", all post" : "");
    fprintf(out, "scratch %" PRId64 " bytes\n", v->scratch);
}

/* ---- count ---- */

static void count_step(sk_sched_stats *c, const sk_step *st)
{
    switch ((sk_step_kind)st->kind) {
    case SK_STEP_RECV:
    case SK_STEP_PRECV:
        c->recvs++;
        c->recv_bytes += st->b.len;
        break;
    case SK_STEP_SEND:
    case SK_STEP_PSEND:
        c->sends++;
        c->send_bytes += st->a.len;
        break;
    case SK_STEP_REDUCE:
        c->reduces++;
        c->reduce_bytes += st->a.len;
        break;
    case SK_STEP_COPY:
    case SK_STEP_PUT:
    case SK_STEP_GET:
    case SK_STEP_RELAY:
        c->copies++;
        c->copy_bytes += st->kind == SK_STEP_GET ? st->b.len : st->a.len;
        break;
    case SK_STEP_TAKE:
    case SK_STEP_READ:
    case SK_STEP_JOIN:
        c->takes++;
        c->take_bytes += st->b.len;
        break;
    case SK_STEP_FOLD:
        c->takes += st->hi - st->lo;
        c->take_bytes += (st->hi - st->lo) * st->b.len;
        break;
    case SK_STEP_OPEN:
    case SK_STEP_POST:
    case SK_STEP_EXPORT:
    case SK_STEP_AWAIT:
    case SK_STEP_QUIESCE:
        break;
    }
}

sk_sched_stats sk_sched_count(const sk_sched *s)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    sk_sched_stats c = {.scratch = v->scratch, .epochs = v->nepochs};
    for (uint32_t i = 0; i < v->nsteps; i++)
        count_step(&c, &v->steps[i]);
    for (uint32_t r = 0; r < v->nrounds; r++)
        c.rounds += v->rounds[r].nrecv + v->rounds[r].nsend > 0;
    return c;
}

/* ---- do steps of one round get in each other's way? ---- */

typedef struct touch {
    int64_t lo, hi;
    uint32_t buf, step;
    bool write;
    bool append; /* to a packet: several in one round are allowed */
} touch;

typedef struct touches {
    touch *at;
    size_t n, cap;
    bool whole; /* spans are added with their holes, as long as their elements are disjoint */
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

/* Element by element, as a step does not touch the holes of a type; or the whole span. */
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
    int64_t n = s.len / ty->size, stride = ty->extent < 0 ? -ty->extent : ty->extent, lo, hi;
    if (t->whole && stride >= ty->true_extent) {
        sk_type_bounds(ty, n, &lo, &hi);
        add(t, (touch){s.off + lo, s.off + hi, s.buf, step, write, false});
        return;
    }
    for (int64_t i = 0; i < n; i++) {
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

static int by_offset(const void *pa, const void *pb)
{
    const touch *a = pa, *b = pb;
    if (a->buf != b->buf)
        return a->buf < b->buf ? -1 : 1;
    if (a->lo != b->lo)
        return a->lo < b->lo ? -1 : 1;
    return 0;
}

/* In the order of offsets, the furthest read and the furthest write so far are enough to find any
 * conflict. */
static const touch *clash(touches *t, const touch **other)
{
    size_t sorted = 1;
    while (sorted < t->n && by_offset(&t->at[sorted - 1], &t->at[sorted]) <= 0)
        sorted++;
    if (sorted < t->n)
        qsort(t->at, t->n, sizeof *t->at, by_offset);
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

/* Does the step read slots of other ranks? Nobody writes these once they are posted. */
static bool reads_slots(const sk_step *st)
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

/* Local ranks may read exported memory until this rank knows that they are done with the epoch. */
typedef struct exports {
    uint32_t first; /* step that may still export something */
    uint32_t below; /* epochs below this one are quiesced */
} exports;

static bool is_exported(const exports *e, const sk_step *st)
{
    return st->kind == SK_STEP_EXPORT && st->packet >= e->below;
}

static void leave_round(exports *e, const struct sk_sched_view *v, const sk_round *rd)
{
    for (uint32_t i = rd->first; i < sk_round_end(rd); i++) {
        uint32_t done = sk_step_quiesces(&v->steps[i]);
        e->below = done > e->below ? done : e->below;
    }
    while (e->first < sk_round_end(rd) && !is_exported(e, &v->steps[e->first]))
        e->first++;
}

static void add_round(touches *t, const struct sk_sched_view *v, const sk_round *rd,
                      const exports *e)
{
    t->n = 0;
    for (uint32_t i = rd->first; i < sk_round_end(rd); i++) {
        const sk_step *st = &v->steps[i];
        add_packets(t, v, st, i);
        if (!reads_slots(st))
            add_span(t, v, st->a, i, false);
        add_span(t, v, st->b, i, true);
    }
    for (uint32_t i = e->first; i < rd->first; i++)
        if (is_exported(e, &v->steps[i]))
            add_span(t, v, v->steps[i].a, i, false);
}

bool sk_sched_disjoint(const sk_sched *s, char *why, size_t size)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    touches t = {0};
    exports exported = {0};
    bool ok = true;
    for (uint32_t r = 0; r < v->nrounds && ok; r++) {
        const sk_round *rd = &v->rounds[r];
        const touch *other = NULL, *x = NULL;
        /* Whole spans are few. Only where they overlap, elements decide. */
        for (int exact = 0; exact < 2 && (!exact || x); exact++) {
            t.whole = !exact;
            add_round(&t, v, rd, &exported);
            x = t.n ? clash(&t, &other) : NULL;
        }
        leave_round(&exported, v, rd);
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
