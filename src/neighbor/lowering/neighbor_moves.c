/* phase_neighbor_moves.c: the transfers of an epoch, in rounds.
 *
 * They are ordered by distance from sender to receiver, so not all send to the same rank at first.
 * A window cuts them into rounds. No rank waits for ever: of all messages that are not over, take
 * those of the lowest (epoch, distance, order); everything before them is over at both ends, and a
 * rank has at most one to send and one to receive of that kind, which are never cut apart. */
#include <stdlib.h>

#include "neighbor/lowering/neighbor.h"

typedef struct move {
    int peer, distance;
    int order; /* among those of the pair in this epoch */
    bool out;
    const sk_leg *leg; /* NULL: a straight message */
    sk_span block;
} move;

typedef struct moves {
    move *at;
    int n;
} moves;

static int by_distance(const void *pa, const void *pb)
{
    const move *a = pa, *b = pb;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->out - b->out;
}

static void add(const sk_tour *t, moves *m, move x)
{
    int by = x.out ? x.peer - t->c->rank : t->c->rank - x.peer;
    x.distance = by < 0 ? by + t->c->nranks : by;
    m->at[m->n++] = x;
}

/* My block to a target, or one of them: number `edge` of parallel ones. */
static void add_straight(const sk_tour *t, moves *m, int peer, bool out, int edge, sk_span block)
{
    if (block.len && ((edge > 0 && !t->all_edges) || !sk_tour_carries(t, block.len)))
        add(t, m, (move){.peer = peer, .order = 1 + edge, .out = out, .block = block});
}

/* Slots of one rank stand together, in the order of their edges. */
static void add_edges(const sk_tour *t, moves *m, bool out)
{
    const int *ranks = out ? t->g->out : t->g->in;
    const int *sorted = out ? t->g->out_sorted : t->g->in_sorted;
    int n = out ? t->g->nout_sorted : t->g->nin_sorted;
    for (int i = 0, edge = 0; i < n; i++) {
        int peer = ranks[sorted[i]];
        edge = i > 0 && ranks[sorted[i - 1]] == peer ? edge + 1 : 0;
        if (peer == t->c->rank || (t->gather && edge > 0))
            continue;
        sk_span block = !out        ? sk_recv_block(t->c, sorted[i])
                        : t->gather ? sk_send_block(t->c, 0)
                                    : sk_send_block(t->c, sorted[i]);
        add_straight(t, m, peer, out, edge, block);
    }
}

static void append(sk_tour *t, const sk_cargo *cargo, const move *x)
{
    if (x->leg)
        cargo->transfer(t, x->leg);
    else if (x->out)
        sk_send(t->s, x->block, x->peer);
    else
        sk_recv(t->s, x->block, x->peer);
}

static bool same_kind(const move *a, const move *b)
{
    return a->distance == b->distance && a->order == b->order;
}

/* Bundles between local ranks need no window. */
static void share(sk_tour *t, const sk_cargo *cargo, int epoch)
{
    int post = -1;
    for (int i = t->epoch_legs[epoch]; i < t->epoch_legs[epoch + 1]; i++) {
        const sk_leg *l = &t->legs[i];
        if (l->intra && l->out)
            post = t->intra.first + l->stage;
        else if (l->intra)
            cargo->transfer(t, l);
    }
    if (post >= 0)
        sk_post(t->s, post);
}

void sk_tour_transfer(sk_tour *t, const sk_cargo *cargo, int epoch)
{
    int first = t->epoch_legs[epoch], end = t->epoch_legs[epoch + 1],
        window = sk_neighborhood_of(t->c)->window;
    size_t most = (size_t)(end - first) + (size_t)t->g->nin_sorted + (size_t)t->g->nout_sorted;
    moves m = {.at = sk_arena_get(t->arena, (most + 1) * sizeof *m.at)};
    if (!m.at) {
        sk_sched_fail(t->s, SK_NOMEM);
        return;
    }
    share(t, cargo, epoch);
    for (int i = first; i < end; i++)
        if (!t->legs[i].intra)
            add(t, &m, (move){.peer = t->legs[i].peer, .out = t->legs[i].out, .leg = &t->legs[i]});
    if (epoch == 0) {
        add_edges(t, &m, false);
        add_edges(t, &m, true);
    }
    qsort(m.at, (size_t)m.n, sizeof *m.at, by_distance);
    for (int i = 0, in_round = 0; i < m.n; i++) {
        bool pair = i + 1 < m.n && same_kind(&m.at[i], &m.at[i + 1]);
        bool fresh = i == 0 || !same_kind(&m.at[i - 1], &m.at[i]);
        if (window > 0 && fresh && in_round > 0 && in_round + 1 + pair > window) {
            sk_fence(t->s);
            in_round = 0;
        }
        append(t, cargo, &m.at[i]);
        in_round++;
    }
    sk_fence(t->s);
}
