/* phase_neighbor_trade.c: blocks change hands in one epoch of shared memory. Each goes the way that
 * both ends of its edge know from its length: through the slot, read where it lies, or as a message.
 */
#include "coll/phase/blocks.h"
#include "neighbor/lowering/neighbor.h"

typedef struct trade {
    sk_tour t;
    sk_places at;
    int epoch;
    bool export;          /* all blocks, also short ones */
    bool gives, exposes;  /* this rank, anything */
    sk_span *from, *into; /* by sorted edge: exported blocks, and where such are read to */
} trade;

typedef enum way { NOTHING, BY_SLOT, BY_PLACE, BY_MESSAGE } way;

static way way_of(const trade *x, int64_t len)
{
    if (len == 0)
        return NOTHING;
    if (!x->export && len <= x->at.bytes)
        return BY_SLOT;
    return x->t.c->direct ? BY_PLACE : BY_MESSAGE;
}

/* The place of edge number `edge` to this local rank. */
static int64_t place_of(const trade *x, int edge, int target)
{
    int local_rank = sk_neighborhood_of(x->t.c)->machine->local_rank[target];
    return x->t.gather ? 0 : ((int64_t)edge * x->t.c->nranks + local_rank) * x->at.bytes;
}

/* The edges that leave or reach me, without loops, one after the other: allgather leaves once. */
typedef struct edge {
    int i; /* sorted edge; -1 before the first */
    int peer, number;
} edge;

static bool next_edge(const trade *x, edge *e, bool out)
{
    const sk_graph *g = x->t.g;
    const int *ranks = out ? g->out : g->in, *sorted = out ? g->out_sorted : g->in_sorted;
    int n = out ? g->nout_sorted : g->nin_sorted;
    if (out && x->t.gather && e->i >= 0 && e->peer != g->rank)
        return false;
    while (++e->i < n) {
        int peer = ranks[sorted[e->i]];
        e->number = e->i > 0 && peer == e->peer ? e->number + 1 : 0;
        e->peer = peer;
        if (peer != g->rank)
            return true;
    }
    return false;
}

static sk_span block_of(const trade *x, const edge *e, bool out)
{
    const sk_tour *t = &x->t;
    return !out ? sk_tour_edge(t, e->i)
                : sk_send_block(t->c, t->gather ? 0 : t->g->out_sorted[e->i]);
}

static sk_span in_common(const trade *x, int rank, int64_t len)
{
    return sk_common(x->epoch, sk_neighborhood_of(x->t.c)->machine->local_rank[rank] * x->at.bytes,
                     len);
}

/* My blocks into my slot, or packed, so that they can be read. */
static void put(trade *x)
{
    sk_sched *s = x->t.s;
    if (x->at.common) {
        sk_span block = sk_send_block(x->t.c, 0);
        sk_copy(s, block, in_common(x, x->t.c->rank, block.len));
        sk_fence(s);
        x->gives = true;
        return;
    }
    for (edge e = {.i = -1}; next_edge(x, &e, true);) {
        sk_span block = block_of(x, &e, true);
        way w = way_of(x, block.len);
        x->gives |= w == BY_SLOT || w == BY_PLACE;
        x->exposes |= w == BY_PLACE;
        if (w == BY_SLOT)
            sk_copy(s, block, sk_slot(x->epoch, place_of(x, e.number, e.peer), block.len));
        if (w != BY_PLACE)
            continue;
        x->from[e.i] = sk_contiguous_place(s, x->t.c, block);
        sk_copy(s, block, x->from[e.i]);
    }
    sk_fence(s);
}

static void export(trade *x)
{
    if (!x->exposes)
        return;
    for (edge e = {.i = -1}; next_edge(x, &e, true);)
        sk_export(x->t.s, x->from[e.i],
                  sk_slot(x->epoch, place_of(x, e.number, e.peer), SK_EXPORT_BYTES));
    sk_fence(x->t.s);
}

/* Blocks that stand one after the other in the common slot and in my buffer are one. */
static void take_common(const trade *x)
{
    sk_sched *s = x->t.s;
    const sk_type *types = x->t.c->types;
    sk_span from = {0}, into = {0};
    for (edge e = {.i = -1}; next_edge(x, &e, false);) {
        sk_span block = block_of(x, &e, false), at = in_common(x, e.peer, block.len);
        sk_span more = into;
        if (into.len && at.off == from.off + from.len && sk_span_join(types, &more, block)) {
            into = more;
            from.len += at.len;
            continue;
        }
        sk_take(s, -1, from, into);
        from = at;
        into = block;
    }
    sk_take(s, -1, from, into);
}

static void take(trade *x)
{
    sk_sched *s = x->t.s;
    for (edge e = {.i = -1}; next_edge(x, &e, false);) {
        sk_span block = block_of(x, &e, false);
        int64_t at = place_of(x, e.number, x->t.c->rank);
        way w = way_of(x, block.len);
        if (w == BY_SLOT)
            sk_take(s, e.peer, sk_slot(x->epoch, at, block.len), block);
        if (w != BY_PLACE)
            continue;
        x->into[e.i] = sk_contiguous_place(s, x->t.c, block);
        sk_read(s, e.peer, sk_slot(x->epoch, at, SK_EXPORT_BYTES), 0, x->into[e.i]);
    }
}

static void unpack(trade *x)
{
    for (edge e = {.i = -1}; next_edge(x, &e, false);)
        if (x->into[e.i].len)
            sk_copy(x->t.s, x->into[e.i], block_of(x, &e, false));
    sk_tour_copy_straight(&x->t);
}

static void run(trade *x)
{
    sk_sched *s = x->t.s;
    put(x);
    export(x);
    if (x->gives)
        sk_post(s, x->epoch);
    sk_tour_copy_loops(&x->t);
    if (x->at.common)
        take_common(x);
    else
        take(x);
    sk_tour_transfer(&x->t, NULL, 0);
    unpack(x);
    if (x->exposes)
        sk_quiesce(s, x->epoch);
}

static sk_status prepare(trade *x)
{
    const sk_graph *g = x->t.g;
    if (!x->t.arena)
        return SK_NOMEM;
    x->from = sk_arena_get(x->t.arena, ((size_t)g->nout_sorted + 1) * sizeof *x->from);
    x->into = sk_arena_get(x->t.arena, ((size_t)g->nin_sorted + 1) * sizeof *x->into);
    return x->from && x->into ? sk_tour_no_legs(&x->t) : SK_NOMEM;
}

void sk_neighbor_trade(sk_sched *s, const sk_call *c, sk_places at, bool export)
{
    trade x = {.t = {.s = s,
                     .c = c,
                     .g = c->neighborhood->graph,
                     .arena = sk_arena_new(),
                     .gather = sk_neighbor_gathers(c),
                     .sized = true,
                     .all_edges = true},
               .at = at,
               .export = export};
    x.t.ride = c->direct ? INT64_MAX : at.bytes;
    sk_status st = prepare(&x);
    if (st == SK_OK) {
        x.epoch = at.together && !at.common ? sk_epoch_together(s, at.room)
                                            : sk_epoch(s, at.room, at.common);
        run(&x);
    } else {
        sk_sched_fail(s, st);
    }
    sk_arena_free(x.t.arena);
}
