/* phase_neighbor.c: epoch by epoch through a pattern. */
#include "neighbor/lowering/neighbor.h"

#include "coll/phase/blocks.h"
#include "sched/packet.h"

enum { SCRATCH_STEP = 64 };

bool sk_neighbor_fits(const sk_call *c, sk_method_id by)
{
    return sk_neighborhood_of(c)->pattern[by] != NULL;
}

bool sk_neighbor_gathers(const sk_call *c)
{
    return c->coll == SK_NEIGHBOR_ALLGATHER || c->coll == SK_NEIGHBOR_ALLGATHERV;
}

bool sk_neighbor_sized(const sk_call *c)
{
    return c->coll != SK_NEIGHBOR_ALLGATHER && c->coll != SK_NEIGHBOR_ALLTOALL;
}

/* Every bundle may need room for all its blocks, rounded up. */
int64_t sk_neighbor_scratch(const sk_call *c, sk_method_id by)
{
    if (by == SK_BY_DIRECT)
        return 0;
    const sk_load *load = &sk_neighborhood_of(c)->load[by];
    int64_t pieces = 0, bundles = 0;
    for (int i = 0; i < SK_NLEVELS; i++) {
        pieces += sk_neighbor_gathers(c) ? load->allgather_blocks[i] : load->alltoall_blocks[i];
        bundles += load->messages[i];
    }
    int64_t each =
        sk_neighbor_sized(c) ? sk_packet_bytes(1, sk_neighborhood_of(c)->ride) : sk_call_bytes(c);
    int64_t room = sk_scratch_bytes(pieces, each),
            round_up = sk_scratch_bytes(bundles, SCRATCH_STEP);
    return room > INT64_MAX - round_up ? INT64_MAX : room + round_up;
}

bool sk_tour_carries(const sk_tour *t, int64_t len)
{
    return !t->direct && (!t->sized || len <= t->ride);
}

/* A pattern may name only pairs that the graph has. */
sk_span sk_tour_send_block(const sk_tour *t, int target)
{
    int first;
    if (t->gather)
        return sk_send_block(t->c, 0);
    if (sk_graph_out_edges(t->g, target, &first))
        return sk_send_block(t->c, t->g->out_sorted[first]);
    sk_sched_fail(t->s, SK_BADARG);
    return (sk_span){0};
}

int sk_tour_edges(const sk_tour *t, int source, int *first)
{
    int n = sk_graph_in_edges(t->g, source, first);
    if (n == 0)
        sk_sched_fail(t->s, SK_BADARG);
    return t->gather || n == 0 ? n : 1;
}

sk_span sk_tour_edge(const sk_tour *t, int i)
{
    return sk_recv_block(t->c, t->g->in_sorted[i]);
}

void sk_tour_copy_loops(sk_tour *t)
{
    int me = t->c->rank, in, out;
    int n = sk_graph_in_edges(t->g, me, &in), nout = sk_graph_out_edges(t->g, me, &out);
    for (int k = 0; k < n && (t->gather || k < nout); k++)
        sk_copy(t->s, sk_send_block(t->c, t->gather ? 0 : t->g->out_sorted[out + k]),
                sk_tour_edge(t, in + k));
}

void sk_tour_copy_straight(sk_tour *t)
{
    for (int i = 0; i < t->g->nsources && t->gather; i++) {
        int first, n = sk_tour_edges(t, t->g->sources[i], &first);
        for (int k = 1; k < n && !sk_tour_carries(t, sk_tour_edge(t, first).len); k++)
            sk_copy(t->s, sk_tour_edge(t, first), sk_tour_edge(t, first + k));
    }
}

static void deliver(sk_tour *t, const sk_cargo *cargo, int epoch)
{
    cargo->deliver(t, epoch);
    if (epoch == 0)
        sk_tour_copy_straight(t);
}

static void run(sk_tour *t, const sk_cargo *cargo)
{
    cargo->prepare(t);
    for (int epoch = 0; epoch < t->nturns; epoch++) {
        cargo->assemble(t, epoch, false);
        sk_fence(t->s);
        if (epoch == 0)
            sk_tour_copy_loops(t);
        else
            deliver(t, cargo, epoch - 1);
        if (epoch + 1 < t->nturns)
            cargo->assemble(t, epoch + 1, true);
        sk_tour_transfer(t, cargo, epoch);
    }
    deliver(t, cargo, t->nturns - 1);
}

sk_status sk_tour_no_legs(sk_tour *t)
{
    t->nturns = 1;
    t->epoch_legs = sk_arena_get(t->arena, 2 * sizeof *t->epoch_legs);
    return t->epoch_legs ? SK_OK : SK_NOMEM;
}

void sk_neighbor_build(sk_sched *s, const sk_call *c, sk_method_id by)
{
    sk_tour t = {.s = s,
                 .c = c,
                 .g = c->neighborhood->graph,
                 .arena = sk_arena_new(),
                 .gather = sk_neighbor_gathers(c),
                 .direct = by == SK_BY_DIRECT,
                 .sized = sk_neighbor_sized(c),
                 .block = sk_neighbor_sized(c) ? 0 : sk_call_bytes(c),
                 .ride = sk_neighborhood_of(c)->ride};
    bool empty = !t.sized && t.block == 0; /* nothing is sent at all, as everybody knows */
    sk_status st = !t.arena            ? SK_NOMEM
                   : t.direct || empty ? sk_tour_no_legs(&t)
                                       : sk_tour_legs(&t, sk_neighborhood_of(c)->pattern[by]);
    if (st == SK_OK && !t.direct && !empty)
        st = sk_tour_share(&t, &sk_neighborhood_of(c)->load[by]);
    if (st == SK_OK)
        run(&t, t.sized ? &sk_cargo_sized : &sk_cargo_equal);
    else
        sk_sched_fail(s, st);
    sk_arena_free(t.arena);
}
