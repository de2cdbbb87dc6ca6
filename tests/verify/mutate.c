#include "mutate.h"

#include <stdlib.h>

#include "check.h"
#include "lab/inproc/inproc.h"

const char *const mutation_name[MUT_COUNT] = {
    "nothing",          "split reduction", "wrong peer",        "missing fence", "wrong source",
    "wrong target",     "skipped step",    "skipped message",   "short step",    "short message",
    "swapped operands", "wrong key",       "a local rank fewer"};

static bool is_send(const sk_step *st)
{
    return st->kind == SK_STEP_SEND || st->kind == SK_STEP_PSEND;
}

static bool is_recv(const sk_step *st)
{
    return st->kind == SK_STEP_RECV || st->kind == SK_STEP_PRECV;
}

/* Its source is memory of others. */
static bool reads_local_ranks(const sk_step *st)
{
    return st->kind == SK_STEP_TAKE || st->kind == SK_STEP_READ || st->kind == SK_STEP_FOLD ||
           st->kind == SK_STEP_JOIN;
}

static bool combines(const sk_step *st)
{
    return st->kind == SK_STEP_REDUCE || st->kind == SK_STEP_FOLD || st->kind == SK_STEP_JOIN;
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
    unsigned char *at[SK_NBUFS + 1]; /* the last one: my slots and the common ones */
    int64_t lo[SK_NBUFS];
    const struct sk_sched_view *v;
} traces;

/* My slots and the common ones, epoch by epoch: where this one starts, or where they all end. */
static int64_t slot_at(const struct sk_sched_view *v, uint32_t buf)
{
    int64_t at = (buf & SK_BUF_MASK) == SK_COMMON ? v->epochs[sk_buf_epoch(buf)].slot_bytes : 0;
    for (uint32_t t = 0; t < sk_buf_epoch(buf); t++)
        at += 2 * v->epochs[t].slot_bytes;
    return at;
}

static unsigned char *trace_at(traces *t, sk_span s, int64_t offset)
{
    if (sk_buf_is_slot(s.buf))
        return &t->at[SK_NBUFS][slot_at(t->v, s.buf) + s.off + offset];
    return &t->at[s.buf][s.off + offset - t->lo[s.buf]];
}

static bool mark(traces *t, const sk_type *types, sk_span s, int bits)
{
    bool clash = false;
    for (int64_t k = 0; k < s.len; k++) {
        int64_t offset;
        sk_inproc_stretch(&types[s.type], k, k + 1, &offset);
        unsigned char *b = trace_at(t, s, offset);
        *b |= (unsigned char)bits;
        int first = *b & (READ | WRITE | APPEND), then = *b >> LATER;
        clash |= first && then && (first | then) != READ && (first | then) != APPEND;
    }
    return clash;
}

static sk_span packet_span(const struct sk_sched_view *v, uint32_t packet)
{
    const sk_packet_info *p = &v->packets[packet];
    return (sk_span){.off = p->off, .len = p->cap, .buf = SK_SCRATCH};
}

/* What is posted is read from then on. */
static bool mark_posted(traces *t, const struct sk_sched_view *v, uint32_t epoch, int shift)
{
    bool own =
        mark(t, v->types, sk_slot((int)epoch, 0, v->epochs[epoch].slot_bytes), READ << shift);
    return mark(t, v->types, sk_common((int)epoch, 0, v->epochs[epoch].slot_bytes),
                READ << shift) ||
           own;
}

static bool mark_round(traces *t, const struct sk_sched_view *v, uint32_t r, int shift)
{
    bool clash = false;
    const sk_round *rd = &v->rounds[r];
    for (uint32_t i = rd->first; i < sk_round_end(rd); i++) {
        const sk_step *st = &v->steps[i];
        if (!reads_local_ranks(st))
            clash |= mark(t, v->types, st->a, READ << shift);
        clash |= mark(t, v->types, st->b, (WRITE | (st->kind == SK_STEP_REDUCE)) << shift);
        if (st->kind == SK_STEP_POST)
            clash |= mark_posted(t, v, st->packet, shift);
        if (st->kind >= SK_STEP_PUT && st->kind <= SK_STEP_RELAY) {
            int bits = st->kind == SK_STEP_PUT ? APPEND : st->kind == SK_STEP_PRECV ? WRITE : READ;
            clash |= mark(t, v->types, packet_span(v, st->packet), bits << shift);
        }
        if (st->kind == SK_STEP_RELAY)
            clash |= mark(t, v->types, packet_span(v, (uint32_t)st->hi), APPEND << shift);
    }
    return clash;
}

static bool rounds_depend(const scene *sc, int rank, const struct sk_sched_view *v, uint32_t r)
{
    const side_map *send = &sc->send[rank], *recv = &sc->recv[rank];
    size_t ns = (size_t)(send->hi - send->lo), nr = (size_t)(recv->hi - recv->lo);
    size_t nb = v->nepochs ? (size_t)slot_at(v, v->nepochs << SK_BUF_BITS) : 0;
    unsigned char *bytes = calloc(1, ns + nr + (size_t)v->scratch + nb + 1);
    if (!bytes)
        abort();
    unsigned char *scratch = bytes + ns + nr;
    traces t = {{bytes, bytes + ns, scratch, scratch + v->scratch}, {send->lo, recv->lo, 0}, v};
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
        (st->lo ? sk_copy_sized : sk_copy)(s, st->a, st->b);
        break;
    case SK_STEP_REDUCE:
        sk_reduce(s, st->a, st->b);
        break;
    case SK_STEP_PUT:
        (st->hi ? sk_put_sized : sk_put)(s, st->packet, st->lo, st->a);
        break;
    case SK_STEP_PRECV:
        sk_packet_recv(s, st->packet, st->peer);
        break;
    case SK_STEP_PSEND:
        sk_packet_send(s, st->packet, st->lo, st->hi, st->peer);
        break;
    case SK_STEP_GET:
        (st->hi ? sk_get_sized : sk_get)(s, st->packet, st->lo, st->b);
        break;
    case SK_STEP_RELAY:
        sk_relay(s, st->packet, st->lo, st->hi, st->peer);
        break;
    case SK_STEP_OPEN: /* freeze knows where */
        break;
    case SK_STEP_POST:
        sk_post(s, st->packet);
        break;
    case SK_STEP_EXPORT:
        sk_export(s, st->a, st->b);
        break;
    case SK_STEP_TAKE:
        (st->lo ? sk_take_sized : sk_take)(s, st->peer, st->a, st->b);
        break;
    case SK_STEP_FOLD:
        sk_fold_local(s, st->lo, st->hi, st->a, st->b);
        break;
    case SK_STEP_JOIN:
        sk_join_local(s, st->a, st->b);
        break;
    case SK_STEP_AWAIT:
        sk_await_local(s, st->packet, st->lo, st->hi);
        break;
    case SK_STEP_READ:
        sk_read(s, st->peer, st->a, sk_step_read_at(st), st->b);
        break;
    case SK_STEP_QUIESCE:
        sk_quiesce(s, st->packet);
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
    int64_t start = m->lo, end = m->hi;
    if (s->buf >= SK_SCRATCH) {
        start = 0;
        end = s->buf == SK_SCRATCH ? v->scratch : v->epochs[sk_buf_epoch(s->buf)].slot_bytes;
    }
    bool fits = s->off + by + lo >= start && s->off + by + hi <= end;
    s->off += fits ? by : -by;
}

/* One of the others: a rank need not wait for itself. */
static void lose_local_rank(const scene *sc, int rank, sk_step *st)
{
    int n;
    sk_machine_local_ranks(sc->k.machine, rank, &n);
    if (st->kind == SK_STEP_JOIN) {
        st->kind = SK_STEP_FOLD;
        st->lo = 0;
        st->hi = n;
    }
    if (st->hi - 1 == sc->k.machine->local_rank[rank])
        st->lo++;
    else
        st->hi--;
}

/* Bytes that a short step lacks. A copy between two types loses as many bytes as both can: one
 * element of the larger. */
static int64_t last_lost(const struct sk_sched_view *v, const sk_step *st)
{
    const sk_type *t = &v->types[st->a.len ? st->a.type : st->b.type];
    int64_t less = combines(st) ? t->size : element(t);
    if ((st->kind == SK_STEP_COPY || st->kind == SK_STEP_TAKE) &&
        element(&v->types[st->b.type]) > less)
        less = element(&v->types[st->b.type]);
    return less;
}

/* The step with its mistake; false: leave it out. */
static bool spoil(const scene *sc, int rank, const struct sk_sched_view *v, mutation m, sk_step *st)
{
    bool whole = combines(st);
    int64_t less = last_lost(v, st);
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
        if (st->kind == SK_STEP_READ) { /* its source is an exported address */
            st->b.len--;
            return st->b.len > 0;
        }
        st->a.len -= st->a.len ? less : 0;
        st->b.len -= st->b.len ? less : 0;
        return st->a.len || st->b.len || st->kind == SK_STEP_PUT || st->kind == SK_STEP_GET;
    case MUT_KEY:
        if (st->kind == SK_STEP_PSEND)
            st->hi--;
        else
            st->lo++;
        return true;
    case MUT_LOCAL_RANKS:
        lose_local_rank(sc, rank, st);
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
        abort();
    sk_scratch(s, v->scratch); /* spans keep their offsets; packets get new scratch behind them */
    for (uint32_t i = 0; i < v->npackets; i++)
        sk_packet(s, 0, v->packets[i].cap);
    for (uint32_t i = 0; i < v->nepochs; i++)
        sk_epoch(s, v->epochs[i].slot_bytes, v->epochs[i].all);
    for (uint32_t r = 0; r < v->nrounds; r++) {
        const sk_round *rd = &v->rounds[r];
        uint32_t end = sk_round_end(rd);
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
    if (sk_sched_freeze(s) == SK_OK)
        return s;
    sk_sched_free(s);
    return NULL;
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
    bool both = m == MUT_SKIP_BOTH || m == MUT_SHORT_BOTH, ok = true;
    if (!out)
        abort();
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

/* With epochs: does this round learn what the next one tells? */
static bool news_go_on(const struct sk_sched_view *v, uint32_t r)
{
    const sk_round *now = &v->rounds[r], *next = now + 1;
    bool tells = next->nsend > 0;
    for (uint32_t i = next->first; i < next->first + next->nhead; i++)
        tells |= v->steps[i].kind == SK_STEP_POST;
    return tells && (v->nepochs == 0 || now->nrecv + now->nwait > 0);
}

static bool fence_counts(const scene *sc, int rank, const struct sk_sched_view *v, uint32_t r)
{
    if (r + 1 >= v->nrounds)
        return false;
    if (sc->k.coll != SK_BARRIER)
        return rounds_depend(sc, rank, v, r);
    return barrier_counts(sc) && news_go_on(v, r);
}

/* Steps that only wait matter where nothing else is done. */
static bool skip_counts(const scene *sc, const sk_step *st)
{
    switch (st->kind) {
    case SK_STEP_PUT:
        return st->a.len > 0;
    case SK_STEP_GET:
        return st->b.len > 0;
    case SK_STEP_AWAIT:
        return sc->k.coll == SK_BARRIER && barrier_counts(sc);
    case SK_STEP_QUIESCE:
        return false;
    default:
        return true;
    }
}

static bool local_ranks_count(const scene *sc, int rank, const sk_step *st)
{
    int n = 0;
    if (sc->k.machine)
        sk_machine_local_ranks(sc->k.machine, rank, &n);
    switch (st->kind) {
    case SK_STEP_JOIN:
        return n > 1;
    case SK_STEP_FOLD:
        return st->hi - st->lo > 1;
    case SK_STEP_AWAIT:
        return sc->k.coll == SK_BARRIER && barrier_counts(sc) && st->hi - st->lo > 1;
    default:
        return false;
    }
}

/* Do the last `n` bytes of what this step writes matter? */
static bool written_matters(const world *w, const trail *t, int rank, const sk_step *st, int64_t n,
                            unsigned how)
{
    bool moves = st->kind == SK_STEP_COPY || st->kind == SK_STEP_TAKE;
    int owner = st->peer < 0 ? rank : st->peer;
    int64_t to, from = -1, len, end = st->b.len;
    for (int64_t k = n < end ? end - n : 0; k < end; k += len) {
        len = world_stretch(w, rank, st->b, k, end, &to);
        int64_t same = moves ? world_stretch(w, owner, st->a, k, end, &from) : len;
        len = same < len ? same : len;
        if (trail_matters_at(t, to, from, len, how))
            return true;
    }
    return false;
}

/* What is posted matters if something is read that this rank wrote there. */
static bool post_counts(const world *w, const struct sk_sched_view *v, const trail *t, int rank,
                        uint32_t epoch)
{
    bool wrote = false;
    for (uint32_t i = 0; i < v->nsteps; i++) {
        sk_span b = v->steps[i].b;
        if (!b.len || !sk_buf_is_slot(b.buf) || sk_buf_epoch(b.buf) != epoch)
            continue;
        wrote = true;
        if (v->steps[i].kind == SK_STEP_EXPORT ||
            written_matters(w, t, rank, &v->steps[i], b.len, TRAIL_READ))
            return true;
    }
    return v->epochs[epoch].all || (!wrote && w->sc->k.coll == SK_BARRIER && barrier_counts(w->sc));
}

/* A block between a slot and a packet whose length only others know: is there one that matters? */
static bool is_sized(const sk_step *st)
{
    return (st->kind == SK_STEP_PUT || st->kind == SK_STEP_GET) && st->hi;
}

static bool sized_matters(const world *w, const trail *t, int rank, const sk_step *st)
{
    sk_span cell = st->a.len ? st->a : st->b;
    int64_t at, len = world_stretch(w, rank, cell, 0, cell.len, &at);
    return trail_matters_at(t, at, -1, len, TRAIL_READ);
}

/* Of a step that is no message: would this mistake be one? */
static bool local_counts(const world *w, const struct sk_sched_view *v, const trail *t, mutation m,
                         int rank, const sk_step *st)
{
    sk_span b = st->b;
    if (st->kind == SK_STEP_POST)
        return m != MUT_SKIP || post_counts(w, v, t, rank, st->packet);
    if (is_sized(st)) /* it may be shorter than its cell */
        return m != MUT_SHORT && sized_matters(w, t, rank, st);
    if (!b.len || st->kind == SK_STEP_GET || st->kind == SK_STEP_EXPORT)
        return true;
    bool lost = m == MUT_SKIP || m == MUT_SHORT;
    int64_t n = b.len;
    if (m == MUT_SHORT && st->kind == SK_STEP_READ)
        n = 1;
    else if (m == MUT_SHORT)
        n = last_lost(v, st);
    return written_matters(w, t, rank, st, n, lost ? TRAIL_NEWS : TRAIL_READ);
}

/* Is there a record with the last key that a packet is sent with? Unless others have put some, it is seen here. */
static bool last_key_counts(const world *w, const struct sk_sched_view *v, const trail *t, int rank,
                            const sk_step *send)
{
    bool put = false;
    for (uint32_t i = 0; i < v->nsteps; i++) {
        const sk_step *st = &v->steps[i];
        if (st->packet != send->packet || (st->kind != SK_STEP_PUT && st->kind != SK_STEP_PRECV))
            continue;
        if (st->kind == SK_STEP_PRECV)
            return true;
        put = true;
        if (st->lo == send->hi - 1)
            return is_sized(st) ? sized_matters(w, t, rank, st) : st->a.len > 0;
    }
    return !put;
}

bool mutation_applies(const world *w, sk_sched *const *scheds, const trail *t, mutation m, int rank,
                      uint32_t step)
{
    const scene *sc = w->sc;
    const struct sk_sched_view *v = sk_sched_view(scheds[rank]);
    const sk_step *st = &v->steps[step];
    uint32_t r = round_of(v, step);
    if (st->kind == SK_STEP_OPEN && m != MUT_FENCE)
        return false;
    bool barrier = sc->k.coll == SK_BARRIER, transfer = is_send(st) || is_recv(st);
    if (m != MUT_FENCE && !transfer && !local_counts(w, v, t, m, rank, st))
        return false;
    switch (m) {
    case MUT_PEER:
        return transfer || (reads_local_ranks(st) && st->peer >= 0);
    case MUT_FENCE:
        return step == v->rounds[r].first && fence_counts(sc, rank, v, r);
    case MUT_FROM:
        return st->a.len && (!transfer || matters(v, t, rank, step, st->a.len, TRAIL_READ));
    case MUT_TO:
        return st->b.len && (!transfer || matters(v, t, rank, step, st->b.len, TRAIL_READ));
    case MUT_SKIP:
        return skip_counts(sc, st);
    case MUT_LOCAL_RANKS:
        return local_ranks_count(sc, rank, st);
    case MUT_SKIP_BOTH:
        return is_send(st) &&
               (barrier ? barrier_counts(sc) : matters(v, t, rank, step, INT64_MAX, TRAIL_NEWS));
    case MUT_SHORT: /* more may be exported than is read */
        return st->kind != SK_STEP_EXPORT && (st->a.len > 0 || st->b.len > 0);
    case MUT_SHORT_BOTH:
        return st->kind == SK_STEP_SEND && st->a.len && same_element(scheds, rank, step) &&
               matters(v, t, rank, step, element(&v->types[st->a.type]), TRAIL_NEWS);
    case MUT_SPLIT:
        return st->kind == SK_STEP_REDUCE;
    case MUT_SWAP:
        return st->kind == SK_STEP_REDUCE && sc->k.ordered;
    case MUT_KEY:
        return (st->kind == SK_STEP_PSEND && last_key_counts(w, v, t, rank, st)) ||
               st->kind == SK_STEP_RELAY || (st->kind == SK_STEP_PUT && st->a.len > 0) ||
               (st->kind == SK_STEP_GET && st->b.len > 0);
    default:
        return true;
    }
}
