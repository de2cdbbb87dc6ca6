#include "mutate.h"

#include <stdlib.h>

#include "check.h"
#include "exec/local_wire.h"

const char *const mutation_name[MUT_COUNT] = {"nothing",       "split reduction",  "wrong peer",
                                              "missing fence", "wrong source",     "wrong target",
                                              "skipped step",  "skipped message",  "short step",
                                              "short message", "swapped operands", "wrong key"};

static bool is_send(const sk_step *st)
{
    return st->kind == SK_STEP_SEND || st->kind == SK_STEP_PSEND;
}

static bool is_recv(const sk_step *st)
{
    return st->kind == SK_STEP_RECV || st->kind == SK_STEP_PRECV;
}

static uint32_t round_of(const struct sk_sched_view *v, uint32_t step)
{
    uint32_t r = 0;
    while (r + 1 < v->nrounds && v->rounds[r + 1].first <= step)
        r++;
    return r;
}

/* ---- what rounds touch, byte by byte and without the help of sk_sched_disjoint ---- */

/* Appends to a packet are done in order, so two of them do not clash. LATER: the same bits of the
 * later round, shifted. */
enum { READ = 1, WRITE = 2, APPEND = 4, LATER = 3 };

typedef struct traces {
    unsigned char *at[SK_NBUFS];
    int64_t lo[SK_NBUFS];
} traces;

static bool mark(traces *t, const sk_type *types, sk_span s, int bits)
{
    bool clash = false;
    for (int64_t k = 0; k < s.len; k++) {
        int64_t place;
        sk_local_stretch(&types[s.type], k, k + 1, &place);
        unsigned char *b = &t->at[s.buf][s.off + place - t->lo[s.buf]];
        *b |= (unsigned char)bits;
        int first = *b & (READ | WRITE | APPEND), then = *b >> LATER;
        clash |= first && then && (first | then) != READ && (first | then) != APPEND;
    }
    return clash;
}

static sk_span room(const struct sk_sched_view *v, uint32_t packet)
{
    const sk_packet_room *p = &v->packets[packet];
    return (sk_span){.off = p->off, .len = p->cap, .buf = SK_SCRATCH};
}

static bool mark_round(traces *t, const struct sk_sched_view *v, uint32_t r, int shift)
{
    bool clash = false;
    const sk_round *rd = &v->rounds[r];
    for (uint32_t i = rd->first; i < rd->first + rd->nrecv + rd->nsend + rd->nlocal; i++) {
        const sk_step *st = &v->steps[i];
        clash |= mark(t, v->types, st->a, READ << shift);
        clash |= mark(t, v->types, st->b, (WRITE | (st->kind == SK_STEP_REDUCE)) << shift);
        if (st->kind >= SK_STEP_PUT) {
            int bits = st->kind == SK_STEP_PUT ? APPEND : st->kind == SK_STEP_PRECV ? WRITE : READ;
            clash |= mark(t, v->types, room(v, st->packet), bits << shift);
        }
        if (st->kind == SK_STEP_RELAY)
            clash |= mark(t, v->types, room(v, (uint32_t)st->hi), APPEND << shift);
    }
    return clash;
}

static bool rounds_depend(const scene *sc, int rank, const struct sk_sched_view *v, uint32_t r)
{
    const side_map *send = &sc->send[rank], *recv = &sc->recv[rank];
    size_t ns = (size_t)(send->hi - send->lo), nr = (size_t)(recv->hi - recv->lo);
    unsigned char *bytes = calloc(1, ns + nr + (size_t)v->scratch + 1);
    if (!bytes)
        abort();
    traces t = {{bytes, bytes + ns, bytes + ns + nr}, {send->lo, recv->lo, 0}};
    mark_round(&t, v, r, 0);
    bool clash = mark_round(&t, v, r + 1, LATER);
    free(bytes);
    return clash;
}

/* ---- rebuilding ---- */

static void append(sk_sched *s, const sk_step *st)
{
    switch ((sk_step_kind)st->kind) {
    case SK_STEP_RECV:
        st->b.len ? sk_recv(s, st->b, st->peer) : sk_recv_signal(s, st->peer);
        break;
    case SK_STEP_SEND:
        st->a.len ? sk_send(s, st->a, st->peer) : sk_send_signal(s, st->peer);
        break;
    case SK_STEP_COPY:
        sk_copy(s, st->a, st->b);
        break;
    case SK_STEP_REDUCE:
        sk_reduce(s, st->a, st->b);
        break;
    case SK_STEP_PUT:
        sk_put(s, st->packet, st->lo, st->a);
        break;
    case SK_STEP_PRECV:
        sk_packet_recv(s, st->packet, st->peer);
        break;
    case SK_STEP_PSEND:
        sk_packet_send(s, st->packet, st->lo, st->hi, st->peer);
        break;
    case SK_STEP_GET:
        sk_get(s, st->packet, st->lo, st->b);
        break;
    case SK_STEP_RELAY:
        sk_relay(s, st->packet, st->lo, st->hi, st->peer);
        break;
    }
}

static int64_t element(const sk_type *t)
{
    return t->contig ? 1 : t->size;
}

/* To the neighbouring element that is still inside the buffer, if there is one. For a reduction the
 * element is the operation's, so that no check of alignment gives the mistake away. */
static void shift(const scene *sc, int rank, const struct sk_sched_view *v, sk_span *s, bool whole)
{
    const sk_type *t = &v->types[s->type];
    int64_t by = t->contig && !whole ? 1 : t->extent, lo = 0, hi = s->len;
    const side_map *m = s->buf == SK_SEND ? &sc->send[rank] : &sc->recv[rank];
    if (!t->contig)
        sk_type_bounds(t, s->len / t->size, &lo, &hi);
    int64_t start = s->buf == SK_SCRATCH ? 0 : m->lo;
    int64_t end = s->buf == SK_SCRATCH ? v->scratch : m->hi;
    bool fits = s->off + by + lo >= start && s->off + by + hi <= end;
    s->off += fits ? by : -by;
}

/* The step with its mistake; false: leave it out. */
static bool spoil(const scene *sc, int rank, const struct sk_sched_view *v, mutation m, sk_step *st)
{
    bool whole = st->kind == SK_STEP_REDUCE;
    const sk_type *t = &v->types[st->a.len ? st->a.type : st->b.type];
    int64_t less = whole ? t->size : element(t);
    switch (m) {
    case MUT_PEER:
        st->peer = (st->peer + 1) % sc->k.p;
        return true;
    case MUT_FROM:
        shift(sc, rank, v, &st->a, whole);
        return true;
    case MUT_TO:
        shift(sc, rank, v, &st->b, whole);
        return true;
    case MUT_SHORT:
    case MUT_SHORT_BOTH:
        /* A copy between two types loses as many bytes as both can: one element of the larger. */
        if (st->kind == SK_STEP_COPY && element(&v->types[st->b.type]) > less)
            less = element(&v->types[st->b.type]);
        st->a.len -= st->a.len ? less : 0;
        st->b.len -= st->b.len ? less : 0;
        return st->a.len || st->b.len || st->kind == SK_STEP_PUT || st->kind == SK_STEP_GET;
    case MUT_KEY:
        if (st->kind == SK_STEP_PSEND)
            st->hi--;
        else
            st->lo++;
        return true;
    default:
        return m != MUT_SKIP && m != MUT_SKIP_BOTH;
    }
}

/* A reduction in rounds of its own: t = in, then inout = t op inout, or inout = inout op t. */
static void split(sk_sched *s, const struct sk_sched_view *v, const sk_step *st, bool swap)
{
    sk_span t = sk_scratch_typed(s, st->a.type, st->a.len / v->types[st->a.type].size);
    sk_fence(s);
    sk_copy(s, st->a, t);
    sk_fence(s);
    if (!swap) {
        sk_reduce(s, t, st->b);
        return;
    }
    sk_reduce(s, st->b, t);
    sk_fence(s);
    sk_copy(s, t, st->b);
}

/* `step` may be UINT32_MAX: no mistake at this rank. */
static sk_sched *rebuild(const scene *sc, int rank, const sk_sched *old, mutation m, uint32_t step)
{
    const struct sk_sched_view *v = sk_sched_view(old);
    sk_sched *s = sk_sched_new(v->types, v->ntypes);
    if (!s)
        return NULL;
    sk_scratch(s, v->scratch); /* so spans keep their offsets; packets get new room behind it */
    for (uint32_t i = 0; i < v->npackets; i++)
        sk_packet(s, 0, v->packets[i].cap);
    for (uint32_t r = 0; r < v->nrounds; r++) {
        const sk_round *rd = &v->rounds[r];
        uint32_t end = rd->first + rd->nrecv + rd->nsend + rd->nlocal;
        bool here = step >= rd->first && step < end, apart = m == MUT_SPLIT || m == MUT_SWAP;
        for (uint32_t i = rd->first; i < end; i++) {
            sk_step st = v->steps[i];
            if (i != step || (!apart && spoil(sc, rank, v, m, &st)))
                append(s, &st);
        }
        if (here && apart)
            split(s, v, &v->steps[step], m == MUT_SWAP);
        if (!(here && m == MUT_FENCE))
            sk_fence(s);
    }
    if (sk_sched_freeze(s)) {
        sk_sched_free(s);
        return NULL;
    }
    return s;
}

/* How many messages between the two ranks, in the same direction, come before this one. */
static int before(const struct sk_sched_view *v, uint32_t step)
{
    const sk_step *st = &v->steps[step];
    int n = 0;
    for (uint32_t i = 0; i < step; i++)
        n += v->steps[i].peer == st->peer && (is_send(st) ? is_send : is_recv)(&v->steps[i]);
    return n;
}

/* Messages between two ranks meet in order: the step at the other end of this one. */
static uint32_t partner(sk_sched *const *scheds, int rank, uint32_t step)
{
    const struct sk_sched_view *v = sk_sched_view(scheds[rank]);
    const sk_step *st = &v->steps[step];
    bool send = is_send(st);
    int nth = before(v, step);
    const struct sk_sched_view *o = sk_sched_view(scheds[st->peer]);
    for (uint32_t i = 0; i < o->nsteps; i++)
        if (o->steps[i].peer == rank && (send ? is_recv : is_send)(&o->steps[i]) && nth-- == 0)
            return i;
    return UINT32_MAX;
}

sk_sched **mutate(const scene *sc, sk_sched *const *scheds, mutation m, int rank, uint32_t step)
{
    sk_sched **out = calloc((size_t)sc->k.p, sizeof(sk_sched *));
    bool both = m == MUT_SKIP_BOTH || m == MUT_SHORT_BOTH, ok = out != NULL;
    int other = both ? sk_sched_view(scheds[rank])->steps[step].peer : -1;
    for (int r = 0; r < sc->k.p && ok; r++) {
        uint32_t at = r == rank && m != MUT_NONE ? step : UINT32_MAX;
        if (r == other)
            at = partner(scheds, rank, step);
        out[r] = rebuild(sc, r, scheds[r], m, at);
        ok = out[r] != NULL;
    }
    if (!ok) {
        scheds_free(out, sc->k.p);
        return NULL;
    }
    return out;
}

/* Both ends lose the same bytes only if their elements are of one size. */
static bool same_element(sk_sched *const *scheds, int rank, uint32_t step)
{
    const struct sk_sched_view *v = sk_sched_view(scheds[rank]);
    const sk_step *st = &v->steps[step];
    const struct sk_sched_view *o = sk_sched_view(scheds[st->peer]);
    const sk_step *recv = &o->steps[partner(scheds, rank, step)];
    return element(&v->types[st->a.type]) == element(&o->types[recv->b.type]);
}

/* Do the last `n` bytes of the message that this step sends or receives matter? */
static bool matters(const struct sk_sched_view *v, const trail *t, int rank, uint32_t step,
                    int64_t n, unsigned how)
{
    const sk_step *st = &v->steps[step];
    int from = is_send(st) ? rank : st->peer, to = is_send(st) ? st->peer : rank;
    return trail_matters(t, from, to, before(v, step), n, how);
}

/* In a barrier nothing is moved. For powers of two each rank hears of each other on one path only,
 * so there no message and no fence is needless. */
static bool barrier_counts(const scene *sc)
{
    return (sc->k.p & (sc->k.p - 1)) == 0;
}

bool mutation_applies(const scene *sc, sk_sched *const *scheds, const trail *t, mutation m,
                      int rank, uint32_t step)
{
    const struct sk_sched_view *v = sk_sched_view(scheds[rank]);
    const sk_step *st = &v->steps[step];
    uint32_t r = round_of(v, step);
    bool barrier = sc->k.coll == SK_BARRIER, transfer = is_send(st) || is_recv(st);
    switch (m) {
    case MUT_PEER:
        return transfer;
    case MUT_FENCE:
        if (r + 1 >= v->nrounds || step != v->rounds[r].first)
            return false;
        return barrier ? barrier_counts(sc) : rounds_depend(sc, rank, v, r);
    case MUT_FROM:
        return st->a.len && (!transfer || matters(v, t, rank, step, st->a.len, TRAIL_READ));
    case MUT_TO:
        return st->b.len && (!transfer || matters(v, t, rank, step, st->b.len, TRAIL_READ));
    case MUT_SKIP:
        return (st->kind != SK_STEP_PUT || st->a.len > 0) &&
               (st->kind != SK_STEP_GET || st->b.len > 0);
    case MUT_SKIP_BOTH:
        return is_send(st) &&
               (barrier ? barrier_counts(sc) : matters(v, t, rank, step, INT64_MAX, TRAIL_NEWS));
    case MUT_SHORT:
        return st->a.len > 0 || st->b.len > 0;
    case MUT_SHORT_BOTH:
        return st->kind == SK_STEP_SEND && st->a.len && same_element(scheds, rank, step) &&
               matters(v, t, rank, step, element(&v->types[st->a.type]), TRAIL_NEWS);
    case MUT_SPLIT:
        return st->kind == SK_STEP_REDUCE;
    case MUT_SWAP:
        return st->kind == SK_STEP_REDUCE && sc->k.ordered;
    case MUT_KEY:
        return st->kind == SK_STEP_PSEND || st->kind == SK_STEP_RELAY ||
               (st->kind == SK_STEP_PUT && st->a.len > 0) ||
               (st->kind == SK_STEP_GET && st->b.len > 0);
    default:
        return true;
    }
}
