/* phase_neighbor_equal.c: blocks that are all of one size. A bundle is packed bytes, block after
 * block. Whether these stand in scratch or in the user's own buffer is up to each rank: what lies
 * together there already, in the right order, is neither copied nor packed. A bundle between local ranks is
 * put into shared memory, and taken from there straight into the user's edges, unless it goes on.
 */
#include "neighbor/lowering/neighbor.h"

static sk_span piece_of_leg(const sk_tour *t, int piece)
{
    const sk_leg *l = &t->legs[t->pieces[piece].leg];
    if (l->intra && l->out)
        return sk_tour_slot(t, piece);
    return sk_span_cut(t->c->types, l->place, (piece - l->first) * t->block, t->block);
}

/* The edge into which a piece that is mine may come at once. */
static sk_span first_edge(const sk_tour *t, const sk_piece *p)
{
    int first;
    return sk_tour_edges(t, p->src, &first) ? sk_tour_edge(t, first) : (sk_span){0};
}

static sk_span source(const sk_tour *t, const sk_piece *p)
{
    return p->from == SK_OWN ? sk_tour_send_block(t, p->dst) : piece_of_leg(t, p->from);
}

/* Where all blocks of a leg lie one after the other, if they do. */
static bool lie_together(const sk_tour *t, const sk_leg *l, sk_span *all)
{
    sk_span run = {0};
    for (int i = l->first; i < l->first + l->n; i++) {
        const sk_piece *p = &t->pieces[i];
        if (!l->out && !p->mine)
            return false;
        if (!sk_span_join(t->c->types, &run, l->out ? source(t, p) : first_edge(t, p)))
            return false;
    }
    *all = run;
    return true;
}

static bool goes_on(const sk_tour *t, const sk_leg *l)
{
    for (int i = l->first; i < l->first + l->n; i++)
        if (t->pieces[i].onward)
            return true;
    return false;
}

static void prepare(sk_tour *t)
{
    for (int i = 0; i < t->epoch_legs[t->nturns]; i++) {
        sk_leg *l = &t->legs[i];
        if (l->intra && l->out) {
            l->packed = true;
            continue;
        }
        if (lie_together(t, l, &l->place))
            continue;
        if (l->intra && !goes_on(t, l)) {
            l->loose = true;
            continue;
        }
        l->place = sk_scratch(t->s, l->n * t->block);
        l->packed = true;
    }
}

/* Runs of blocks that follow each other move in one copy, or are taken at once. */
typedef struct copier {
    sk_tour *t;
    const sk_leg *from; /* a local rank's slot; NULL: my own memory */
    sk_span user, packed;
} copier;

static void flush(copier *c, bool out)
{
    if (c->from)
        sk_take(c->t->s, c->from->peer, c->packed, c->user);
    else
        sk_copy(c->t->s, out ? c->user : c->packed, out ? c->packed : c->user);
    c->user.len = c->packed.len = 0;
}

static void add(copier *c, sk_span user, sk_span packed, bool out)
{
    const sk_type *types = c->t->c->types;
    sk_span more = c->packed;
    if (!sk_span_join(types, &more, packed) || !sk_span_join(types, &c->user, user)) {
        flush(c, out);
        c->user = user;
        more = packed;
    }
    c->packed = more;
}

static void assemble(sk_tour *t, int epoch, bool early)
{
    for (int i = t->epoch_legs[epoch]; i < t->epoch_legs[epoch + 1]; i++) {
        const sk_leg *l = &t->legs[i];
        copier c = {.t = t};
        if (!l->out || !l->packed)
            continue;
        bool may = sk_tour_may_fill_early(t, l);
        for (int k = l->first; k < l->first + l->n; k++)
            if (!t->pieces[k].twice &&
                (may && sk_piece_came(t, &t->pieces[k]) < epoch - 1) == early)
                add(&c, source(t, &t->pieces[k]), piece_of_leg(t, k), true);
        flush(&c, true);
    }
}

/* Straight into all edges of its source. */
static void take_loose(copier *c, int piece)
{
    const sk_tour *t = c->t;
    int first, n = t->pieces[piece].mine ? sk_tour_edges(t, t->pieces[piece].src, &first) : 0;
    if (n > 0)
        add(c, sk_tour_edge(t, first), sk_tour_slot(t, piece), false);
    for (int k = 1; k < n; k++)
        sk_take(t->s, c->from->peer, sk_tour_slot(t, piece), sk_tour_edge(t, first + k));
}

static void take(sk_tour *t, const sk_leg *l)
{
    copier c = {.t = t, .from = l};
    for (int k = l->first; k < l->first + l->n; k++)
        if (l->loose)
            take_loose(&c, k);
        else
            add(&c, piece_of_leg(t, k), sk_tour_slot(t, k), false);
    flush(&c, false);
}

static void transfer(sk_tour *t, const sk_leg *l)
{
    if (l->intra)
        take(t, l);
    else if (l->out)
        sk_send(t->s, l->place, l->peer);
    else
        sk_recv(t->s, l->place, l->peer);
}

/* To further edges of the same source. */
static void duplicate(sk_tour *t, int piece)
{
    int first, n = sk_tour_edges(t, t->pieces[piece].src, &first);
    for (int k = 1; k < n; k++)
        sk_copy(t->s, piece_of_leg(t, piece), sk_tour_edge(t, first + k));
}

static void deliver(sk_tour *t, int epoch)
{
    for (int i = t->epoch_legs[epoch]; i < t->epoch_legs[epoch + 1]; i++) {
        const sk_leg *l = &t->legs[i];
        copier c = {.t = t};
        for (int k = l->first; k < l->first + l->n && !l->out && !l->loose; k++) {
            if (!t->pieces[k].mine)
                continue;
            if (l->packed)
                add(&c, first_edge(t, &t->pieces[k]), piece_of_leg(t, k), false);
            duplicate(t, k);
        }
        flush(&c, false);
    }
}

const sk_cargo sk_cargo_equal = {prepare, assemble, transfer, deliver};
