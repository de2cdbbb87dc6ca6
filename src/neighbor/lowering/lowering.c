/* lowering.c: bundles of a pattern to transfers, and transfers to rounds of the schedule. */
#include "neighbor/lowering/lowering.h"

#include <stdlib.h>

#include "coll/phase/blocks.h"
#include "sched/packet.h"

/* ---- from bundles to transfers ---- */

typedef struct block_arrival {
    sk_block block;
    int index; /* of the wire block with which it arrives */
} block_arrival;

static int by_block(const void *pa, const void *pb)
{
    const sk_block *a = &((const block_arrival *)pa)->block,
                   *b = &((const block_arrival *)pb)->block;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return a->dst < b->dst ? -1 : a->dst > b->dst;
}

/* Makes the wire blocks of a bundle, whose blocks are sorted by source. Every block that arrives is
 * also added to the list of arrivals. */
static int cut(sk_lowering *t, const sk_pattern_view *v, const sk_bundle *h, int transfer,
               block_arrival **arrivals)
{
    sk_transfer *l = &t->transfers[transfer];
    const sk_block *block = &v->blocks[h->first];
    sk_wire_block *p = &t->blocks[l->first] - 1;
    for (uint32_t i = 0; i < h->n; i++) {
        if (i == 0 || !t->gather || block[i].src != block[i - 1].src)
            *++p = (sk_wire_block){
                .transfer = transfer, .src = block[i].src, .dst = block[i].dst, .from = SK_OWN};
        p->mine |= block[i].dst == v->rank;
        if (!h->out)
            *(*arrivals)++ = (block_arrival){block[i], (int)(p - t->blocks)};
    }
    return l->n = (int)(p - &t->blocks[l->first]) + 1;
}

/* Finds for each wire block that is sent on the one with which it arrived. */
static sk_status trace(sk_lowering *t, sk_transfer *l, const block_arrival *arrivals, size_t n)
{
    for (int i = l->first; i < l->first + l->n; i++) {
        sk_wire_block *p = &t->blocks[i];
        if (p->src == t->c->rank)
            continue;
        block_arrival key = {{p->src, p->dst}, 0};
        const block_arrival *a = bsearch(&key, arrivals, n, sizeof key, by_block);
        if (!a || t->transfers[t->blocks[a->index].transfer].phase >= l->phase)
            return SK_BADARG; /* a pattern that sends what it does not have */
        p->from = a->index;
        t->blocks[a->index].forwarded = true;
    }
    return SK_OK;
}

/* Stage 0 is phase 0, also when it has no bundles. */
static void count_phases(sk_lowering *t, const sk_pattern_view *v)
{
    int phase = 0;
    for (size_t i = 0; i < v->nbundles; i++) {
        if (v->bundles[i].stage > (i ? v->bundles[i - 1].stage : 0))
            t->phase_transfers[++phase] = (int)i;
        t->transfers[i].phase = phase;
        t->transfers[i].stage = v->bundles[i].stage;
    }
    t->nphases = phase + 1;
    t->phase_transfers[t->nphases] = (int)v->nbundles;
}

sk_status sk_lowering_make_transfers(sk_lowering *t, const sk_pattern *pattern)
{
    const sk_pattern_view *v = sk_pattern_view_get(pattern);
    block_arrival *arrivals = sk_arena_get(t->arena, (v->nblocks + 1) * sizeof *arrivals), *end;
    t->transfers = sk_arena_get(t->arena, (v->nbundles + 1) * sizeof *t->transfers);
    t->phase_transfers = sk_arena_get(t->arena, (v->nbundles + 2) * sizeof *t->phase_transfers);
    t->blocks = sk_arena_get(t->arena, (v->nblocks + 1) * sizeof *t->blocks);
    if (!arrivals || !t->transfers || !t->phase_transfers || !t->blocks)
        return SK_NOMEM;
    count_phases(t, v);
    end = arrivals;
    for (size_t i = 0, blocks = 0; i < v->nbundles; i++) {
        t->transfers[i].peer = v->bundles[i].peer;
        t->transfers[i].out = v->bundles[i].out;
        t->transfers[i].first = (int)blocks;
        blocks += (size_t)cut(t, v, &v->bundles[i], (int)i, &end);
    }
    size_t n = (size_t)(end - arrivals);
    qsort(arrivals, n, sizeof *arrivals, by_block);
    for (size_t i = 0; i < v->nbundles; i++)
        if (t->transfers[i].out && trace(t, &t->transfers[i], arrivals, n) != SK_OK)
            return SK_BADARG;
    return SK_OK;
}

int sk_wire_block_arrival(const sk_lowering *t, const sk_wire_block *p)
{
    return p->from == SK_OWN ? SK_OWN : t->transfers[t->blocks[p->from].transfer].phase;
}

/* ---- the transfers of a phase, in rounds ----
 *
 * They are ordered by the distance from sender to receiver, so that not all ranks send to the same
 * rank first. A window cuts them into rounds. This cannot deadlock: of all messages that are not
 * complete, take those of the lowest (phase, distance, order). Everything before them is complete at
 * both ends, and a rank has at most one send and one receive of that key, which are never cut apart. */

typedef struct pending_transfer {
    int peer, distance;
    int order; /* among the messages of the pair in this phase */
    bool out;
    const sk_transfer *transfer; /* NULL: a direct message */
    sk_span block;
} pending_transfer;

typedef struct transfer_list {
    pending_transfer *at;
    int n;
} transfer_list;

static int by_distance(const void *pa, const void *pb)
{
    const pending_transfer *a = pa, *b = pb;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->out - b->out;
}

static void add(const sk_lowering *t, transfer_list *m, pending_transfer x)
{
    int by = x.out ? x.peer - t->c->rank : t->c->rank - x.peer;
    x.distance = by < 0 ? by + t->c->nranks : by;
    m->at[m->n++] = x;
}

/* Are blocks of this length combined, if they are the first of parallel edges? */
static bool combines(const sk_lowering *t, int64_t len)
{
    return !t->direct && (!t->sized || len <= t->combine_limit);
}

/* The block of an edge, number `edge` of parallel ones, if it is not combined. */
static void add_direct(const sk_lowering *t, transfer_list *m, int peer, bool out, int edge,
                       sk_span block)
{
    if (block.len && ((edge > 0 && !t->all_edges) || !combines(t, block.len)))
        add(t, m, (pending_transfer){.peer = peer, .order = 1 + edge, .out = out, .block = block});
}

/* The edges of one rank are contiguous in the sorted list, in the order in which they match. */
static void add_edges(const sk_lowering *t, transfer_list *m, bool out)
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
        add_direct(t, m, peer, out, edge, block);
    }
}

static void append(sk_lowering *t, const sk_layout *layout, const pending_transfer *x)
{
    if (x->transfer)
        layout->transfer(t, x->transfer);
    else if (x->out)
        sk_send(t->s, x->block, x->peer);
    else
        sk_recv(t->s, x->block, x->peer);
}

static bool same_kind(const pending_transfer *a, const pending_transfer *b)
{
    return a->distance == b->distance && a->order == b->order;
}

/* Transfers through shared memory need no window. */
static void share(sk_lowering *t, const sk_layout *layout, int phase)
{
    int post = -1;
    for (int i = t->phase_transfers[phase]; i < t->phase_transfers[phase + 1]; i++) {
        const sk_transfer *l = &t->transfers[i];
        if (l->intra && l->out)
            post = t->intra.first_epoch + l->stage;
        else if (l->intra)
            layout->transfer(t, l);
    }
    if (post >= 0)
        sk_post(t->s, post);
}

void sk_lowering_phase(sk_lowering *t, const sk_layout *layout, int phase)
{
    int first = t->phase_transfers[phase], end = t->phase_transfers[phase + 1],
        window = sk_neighborhood_of(t->c)->window;
    size_t most = (size_t)(end - first) + (size_t)t->g->nin_sorted + (size_t)t->g->nout_sorted;
    transfer_list m = {.at = sk_arena_get(t->arena, (most + 1) * sizeof *m.at)};
    if (!m.at) {
        sk_sched_fail(t->s, SK_NOMEM);
        return;
    }
    share(t, layout, phase);
    for (int i = first; i < end; i++)
        if (!t->transfers[i].intra)
            add(t, &m,
                (pending_transfer){.peer = t->transfers[i].peer,
                                   .out = t->transfers[i].out,
                                   .transfer = &t->transfers[i]});
    if (phase == 0) {
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
        append(t, layout, &m.at[i]);
        in_round++;
    }
    sk_fence(t->s);
}

/* ---- the call ---- */

bool sk_neighbor_gathers(const sk_call *c)
{
    return c->coll == SK_NEIGHBOR_ALLGATHER || c->coll == SK_NEIGHBOR_ALLGATHERV;
}

bool sk_neighbor_sized(const sk_call *c)
{
    return c->coll != SK_NEIGHBOR_ALLGATHER && c->coll != SK_NEIGHBOR_ALLTOALL;
}

/* Fails the schedule when the pattern has a pair that the graph does not have. */
sk_span sk_lowering_send_block(const sk_lowering *t, int target)
{
    int first;
    if (t->gather)
        return sk_send_block(t->c, 0);
    if (sk_graph_out_edges(t->g, target, &first))
        return sk_send_block(t->c, t->g->out_sorted[first]);
    sk_sched_fail(t->s, SK_BADARG);
    return (sk_span){0};
}

int sk_lowering_edges(const sk_lowering *t, int source, int *first)
{
    int n = sk_graph_in_edges(t->g, source, first);
    if (n == 0)
        sk_sched_fail(t->s, SK_BADARG);
    return t->gather || n == 0 ? n : 1;
}

sk_span sk_lowering_edge(const sk_lowering *t, int i)
{
    return sk_recv_block(t->c, t->g->in_sorted[i]);
}

void sk_lowering_copy_loops(sk_lowering *t)
{
    int me = t->c->rank, in, out;
    int n = sk_graph_in_edges(t->g, me, &in), nout = sk_graph_out_edges(t->g, me, &out);
    for (int k = 0; k < n && (t->gather || k < nout); k++)
        sk_copy(t->s, sk_send_block(t->c, t->gather ? 0 : t->g->out_sorted[out + k]),
                sk_lowering_edge(t, in + k));
}

void sk_lowering_copy_direct(sk_lowering *t)
{
    for (int i = 0; i < t->g->nsources && t->gather; i++) {
        int first, n = sk_lowering_edges(t, t->g->sources[i], &first);
        for (int k = 1; k < n && !combines(t, sk_lowering_edge(t, first).len); k++)
            sk_copy(t->s, sk_lowering_edge(t, first), sk_lowering_edge(t, first + k));
    }
}

sk_status sk_lowering_no_transfers(sk_lowering *t)
{
    t->nphases = 1;
    t->phase_transfers = sk_arena_get(t->arena, 2 * sizeof *t->phase_transfers);
    return t->phase_transfers ? SK_OK : SK_NOMEM;
}
