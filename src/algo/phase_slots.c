/* phase_slots.c: blocks of unknown sizes through slots of one size.
 *
 * A long block is exposed where it lies, or sent from there, unless it is to be read and is not
 * contiguous, or is about to be overwritten because the call is in place: then a packed copy of it
 * is made. A long block that is read into a type that is not contiguous comes to a copy as well. */
#include "algo/phase_share.h"

int64_t sk_slot_size(const sk_call *c, int n, int64_t most)
{
    int64_t lines = (c->room < SK_SHARE_SLOTS ? c->room : SK_SHARE_SLOTS) / n / SK_SHARE_LINE;
    if (lines > most / SK_SHARE_LINE)
        lines = most / SK_SHARE_LINE;
    if (lines > 1 && n > 1 && lines % 2 == 0)
        lines--; /* short blocks are not to fall on the same few sets of a cache */
    return lines * SK_SHARE_LINE;
}

int64_t sk_slots_big(const sk_call *c, int n)
{
    enum { MOST = 16 << 20 }; /* of all blocks of a root, in copies where their type has gaps */
    int64_t room = c->room / n, most = MOST / SK_SLOTS_BIG / c->nranks;
    return (room < most ? room : most) / SK_SHARE_LINE * SK_SHARE_LINE;
}

int64_t sk_slots_scratch(const sk_call *c, int n)
{
    return sk_room(c->nranks, SK_SLOTS_BIG * sk_slots_big(c, n));
}

typedef struct walk { /* over the blocks of a lane */
    const sk_lane *lane;
    int64_t size;   /* of a slot */
    int64_t most;   /* of all big slots of a block together, at least that */
    bool rewritten; /* the blocks may be overwritten meanwhile */
    sk_span copy;   /* of the blocks that need one */
    int64_t at;     /* how far it is used */
    int i;
    sk_span user, place; /* the current block, and where it is while others see it */
    int peer;
} walk;

static bool is_long(const walk *w)
{
    return w->user.len > w->most;
}

static bool is_big(const walk *w)
{
    return w->user.len > w->size && !is_long(w);
}

static bool needs_copy(const walk *w)
{
    const sk_call *c = w->lane->row.c;
    bool cut = is_big(w) || (is_long(w) && c->direct);
    return (is_big(w) || is_long(w)) && (w->rewritten || (cut && !c->types[w->user.type].contig));
}

static void walk_back(walk *w)
{
    w->at = w->i = 0;
}

static bool walk_on(walk *w)
{
    const sk_call *c = w->lane->row.c;
    if (w->i == w->lane->n)
        return false;
    w->peer = (int)(((int64_t)w->lane->first + w->i) % c->nranks);
    w->place = w->user = sk_row_block(&w->lane->row, w->i++);
    if (needs_copy(w)) {
        w->place = sk_span_cut(c->types, w->copy, w->at, w->user.len);
        w->at += w->user.len;
    }
    return true;
}

static walk walk_of(sk_sched *s, const sk_lane *lane, const sk_slots *x, bool rewritten)
{
    int64_t big = x->nbig * x->big;
    walk w = {.lane = lane,
              .size = x->size,
              .most = big > x->size ? big : x->size,
              .rewritten = rewritten};
    while (walk_on(&w))
        ;
    if (w.at)
        w.copy = sk_scratch(s, w.at);
    walk_back(&w);
    return w;
}

typedef struct turns { /* of tiny blocks, of parts of big ones, if they have them, and of the others
                        */
    int tiny, other, big[SK_SLOTS_BIG];
    bool use_tiny, use_other; /* what this rank has in them */
} turns;

/* The slot of the current block, `len` bytes of it. */
static sk_span slot_of(const walk *w, const sk_slots *x, const turns *t, int64_t i, int64_t len)
{
    if (w->user.len <= x->tiny)
        return sk_bay(t->tiny, i * x->tiny, len);
    return sk_bay(t->other, i * w->size, len);
}

/* Fill the slots; true if something is exposed. */
static bool fill(sk_sched *s, walk *w, const sk_slots *x, turns *t, bool direct)
{
    bool exposed = false;
    for (; walk_on(w);)
        sk_copy(s, w->user, w->place);
    if (w->copy.len)
        sk_fence(s);
    for (walk_back(w); walk_on(w);) {
        if (is_big(w))
            continue;
        if (!is_long(w))
            sk_copy(s, w->user, slot_of(w, x, t, w->i - 1, w->user.len));
        else if (direct)
            sk_expose(s, w->place, slot_of(w, x, t, w->i - 1, SK_PLACE));
        exposed |= direct && is_long(w);
        t->use_tiny |= w->user.len <= x->tiny;
        t->use_other |= w->user.len > x->tiny;
    }
    walk_back(w);
    return exposed;
}

static void empty(sk_sched *s, walk *w, const sk_slots *x, const turns *t, bool direct)
{
    for (; walk_on(w);) {
        int64_t i = x->nslots > 1 ? x->slot - (w->i - 1) : 0;
        if (is_big(w))
            continue;
        if (!is_long(w))
            sk_take(s, w->peer, slot_of(w, x, t, i, w->user.len), w->user);
        else if (direct)
            sk_read(s, w->peer, slot_of(w, x, t, i, SK_PLACE), 0, w->place);
        else
            sk_recv(s, w->user, w->peer);
    }
    walk_back(w);
}

/* Part `k` of the current block, if it is a big one that has so many. */
static sk_span part_of(const walk *w, const sk_slots *x, int k)
{
    int64_t from = k * x->big, left = w->user.len - from;
    if (!is_big(w) || left <= 0)
        return (sk_span){0};
    return sk_span_cut(w->lane->row.c->types, w->place, from, left < x->big ? left : x->big);
}

/* Big blocks, a part of each in a turn. */
static void exchange_parts(sk_sched *s, const sk_slots *x, const turns *t, walk *out, walk *in)
{
    for (int k = 0; k < x->nbig && k < SK_SLOTS_BIG; k++) {
        bool gives = false;
        for (; walk_on(out);) {
            sk_span part = part_of(out, x, k);
            sk_copy(s, part, sk_bay(t->big[k], (out->i - 1) * x->big, part.len));
            gives |= part.len > 0;
        }
        walk_back(out);
        sk_fence(s);
        if (gives)
            sk_publish(s, t->big[k]);
        for (; walk_on(in);) {
            sk_span part = part_of(in, x, k);
            int64_t i = x->nslots > 1 ? x->slot - (in->i - 1) : 0;
            sk_take(s, in->peer, sk_bay(t->big[k], i * x->big, part.len), part);
        }
        walk_back(in);
    }
}

void sk_slots_exchange(sk_sched *s, const sk_call *c, const sk_slots *x, sk_span own,
                       sk_span own_to)
{
    bool direct = c->direct, all = x->out.n > 0 && x->in.n > 0;
    turns t = {.tiny = x->tiny ? sk_turn(s, x->nslots * x->tiny, false) : 0};
    t.other = sk_turn(s, x->nslots * x->size, all);
    for (int k = 0; k < x->nbig && k < SK_SLOTS_BIG; k++)
        t.big[k] = sk_turn(s, x->nslots * x->big, false);
    walk out = walk_of(s, &x->out, x, all && c->in_place);
    walk in = walk_of(s, &x->in, x, false);
    bool exposed = fill(s, &out, x, &t, direct);
    sk_fence(s);
    if (x->tiny && t.use_tiny)
        sk_publish(s, t.tiny);
    if (all || t.use_other)
        sk_publish(s, t.other);
    sk_copy(s, own, own_to);
    if (all)
        sk_share_meet(s, c, t.other);
    for (; !direct && walk_on(&out);)
        if (is_long(&out))
            sk_send(s, out.place, out.peer);
    walk_back(&out);
    empty(s, &in, x, &t, direct);
    sk_fence(s);
    if (x->nbig)
        exchange_parts(s, x, &t, &out, &in);
    sk_fence(s);
    while (walk_on(&in))
        sk_copy(s, in.place, in.user);
    if (exposed)
        sk_settle(s, t.other);
}
