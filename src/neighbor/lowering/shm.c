/* shm.c: the algorithms for neighbourhoods on one node. Every rank puts its blocks where the other ranks
 * of the node can read them, and copies those of its sources from there.
 *
 *   shm          through the slots of one epoch. Alltoall: two copies of every block. Allgather: one
 *                copy into the slot, whatever the degree, and one out of it for each neighbour; short
 *                blocks use the common slot where ranks share cores.
 *   single-copy  a slot holds only the addresses of the blocks, and the other ranks read them there
 *                (CMA): one copy, one system call per block; no rank returns before all have read.
 *
 * cost      degree copies, no messages, one wait for each neighbour
 * good for  shm: up to a few KB, and allgather at any length that fits; single-copy: long blocks
 * rounds    2; with exported blocks 3
 * scratch   exported blocks of types with gaps, packed
 *
 * Both ends of an edge compute the offset of its block without messages. Allgather: the start of the
 * slot. Alltoall: one offset for each local rank, and that again for each number of parallel edges.
 *
 * All local ranks append the same epoch, but not all know the sizes. A rank without neighbours does not
 * know the size of equal blocks either, but takes no part in the epoch. In the v and w forms all ranks
 * agree on the bytes of a slot, and the length of a block is written before it: a receiver with room for
 * less reports that. A block that is too long for its part of the slot is exported, or sent where that is
 * not possible; the two ends of an edge decide alike. */
#include "coll/phase/blocks.h"
#include "coll/phase/intra.h"
#include "neighbor/lowering/lowering.h"
#include "neighbor/tuning.h"

/* How the blocks are laid out in a slot. */
typedef struct slot_layout {
    int64_t n;           /* blocks: allgather 1; alltoall one for each local rank and each number of
                          * parallel edges */
    int64_t block_bytes; /* longer blocks do not go through the slot */
    int64_t head;        /* bytes before a block, for its length */
    int64_t slot_bytes;
    bool common;  /* allgather: in the common slot, which all local ranks fill */
    bool in_step; /* no rank runs far ahead of the others */
} slot_layout;

/* ---- the exchange of blocks in one epoch ----
 *
 * Both ends of an edge know its path from the block's length: through the slot, read from the sender's
 * memory, or as a message. */

typedef struct shm_exchange {
    sk_lowering t;
    slot_layout slot;
    int epoch;
    bool export;          /* all blocks, also short ones */
    bool posts, exports;  /* this rank has something in its slot; has exported blocks */
    sk_span *from, *into; /* by sorted edge: exported blocks, and where they are read to */
} shm_exchange;

typedef enum block_path { NOTHING, BY_SLOT, BY_READ, BY_MESSAGE } block_path;

static block_path path_of(const shm_exchange *x, int64_t len)
{
    if (len == 0)
        return NOTHING;
    if (!x->export && len <= x->slot.block_bytes)
        return BY_SLOT;
    return x->t.c->direct ? BY_READ : BY_MESSAGE;
}

/* The offset of the block of edge number `edge` to this local rank. */
static int64_t offset_of(const shm_exchange *x, int edge, int target)
{
    int local_rank = sk_neighborhood_of(x->t.c)->machine->local_rank[target];
    int64_t at = x->t.gather ? 0 : (int64_t)edge * x->t.c->nranks + local_rank;
    return at * (x->slot.head + x->slot.block_bytes) + x->slot.head;
}

/* Iterates over the edges of this rank, without loops. Allgather has one outgoing edge. */
typedef struct edge_iter {
    int i; /* sorted edge; -1 before the first */
    int peer, number;
} edge_iter;

static bool next_edge(const shm_exchange *x, edge_iter *e, bool out)
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

static sk_span block_of(const shm_exchange *x, const edge_iter *e, bool out)
{
    const sk_lowering *t = &x->t;
    return !out ? sk_lowering_edge(t, e->i)
                : sk_send_block(t->c, t->gather ? 0 : t->g->out_sorted[e->i]);
}

static sk_span in_common(const shm_exchange *x, int rank, int64_t len)
{
    return sk_common(
        x->epoch, sk_neighborhood_of(x->t.c)->machine->local_rank[rank] * x->slot.block_bytes, len);
}

/* Copies this rank's blocks into its slot, or packs them for export. */
static void put(shm_exchange *x)
{
    sk_sched *s = x->t.s;
    if (x->slot.common) {
        sk_span block = sk_send_block(x->t.c, 0);
        sk_copy(s, block, in_common(x, x->t.c->rank, block.len));
        sk_fence(s);
        x->posts = true;
        return;
    }
    for (edge_iter e = {.i = -1}; next_edge(x, &e, true);) {
        sk_span block = block_of(x, &e, true);
        block_path w = path_of(x, block.len);
        x->posts |= w == BY_SLOT || w == BY_READ;
        x->exports |= w == BY_READ;
        if (w == BY_SLOT) {
            sk_span slot = sk_slot(x->epoch, offset_of(x, e.number, e.peer), block.len);
            (x->slot.head ? sk_copy_sized : sk_copy)(s, block, slot);
        }
        if (w != BY_READ)
            continue;
        x->from[e.i] = sk_contiguous_place(s, x->t.c, block);
        sk_copy(s, block, x->from[e.i]);
    }
    sk_fence(s);
}

static void export(shm_exchange *x)
{
    if (!x->exports)
        return;
    for (edge_iter e = {.i = -1}; next_edge(x, &e, true);)
        (x->slot.head ? sk_export_sized : sk_export)(
            x->t.s, x->from[e.i],
            sk_slot(x->epoch, offset_of(x, e.number, e.peer), SK_EXPORT_BYTES));
    sk_fence(x->t.s);
}

/* Blocks that are consecutive in the common slot and in the user's buffer are taken as one. */
static void take_common(const shm_exchange *x)
{
    sk_sched *s = x->t.s;
    const sk_type *types = x->t.c->types;
    sk_span from = {0}, into = {0};
    for (edge_iter e = {.i = -1}; next_edge(x, &e, false);) {
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

static void take(shm_exchange *x)
{
    sk_sched *s = x->t.s;
    for (edge_iter e = {.i = -1}; next_edge(x, &e, false);) {
        sk_span block = block_of(x, &e, false);
        int64_t at = offset_of(x, e.number, x->t.c->rank);
        block_path w = path_of(x, block.len);
        if (w == BY_SLOT)
            (x->slot.head ? sk_take_sized : sk_take)(s, e.peer, sk_slot(x->epoch, at, block.len),
                                                     block);
        if (w != BY_READ)
            continue;
        x->into[e.i] = sk_contiguous_place(s, x->t.c, block);
        sk_read(s, e.peer, sk_slot(x->epoch, at, SK_EXPORT_BYTES), 0, x->into[e.i]);
    }
}

static void unpack(shm_exchange *x)
{
    for (edge_iter e = {.i = -1}; next_edge(x, &e, false);)
        if (x->into[e.i].len)
            sk_copy(x->t.s, x->into[e.i], block_of(x, &e, false));
    sk_lowering_copy_direct(&x->t);
}

static void build_exchange(shm_exchange *x)
{
    sk_sched *s = x->t.s;
    put(x);
    export(x);
    if (x->posts)
        sk_post(s, x->epoch);
    sk_lowering_copy_loops(&x->t);
    if (x->slot.common)
        take_common(x);
    else
        take(x);
    sk_lowering_phase(&x->t, NULL, 0);
    unpack(x);
    if (x->exports)
        sk_quiesce(s, x->epoch);
}

static sk_status prepare(shm_exchange *x)
{
    const sk_graph *g = x->t.g;
    if (!x->t.arena)
        return SK_NOMEM;
    x->from = sk_arena_get(x->t.arena, ((size_t)g->nout_sorted + 1) * sizeof *x->from);
    x->into = sk_arena_get(x->t.arena, ((size_t)g->nin_sorted + 1) * sizeof *x->into);
    return x->from && x->into ? sk_lowering_no_transfers(&x->t) : SK_NOMEM;
}

static void exchange(sk_sched *s, const sk_call *c, slot_layout slot, bool export)
{
    shm_exchange x = {.t = {.s = s,
                            .c = c,
                            .g = c->neighborhood->graph,
                            .arena = sk_arena_new(),
                            .gather = sk_neighbor_gathers(c),
                            .sized = true,
                            .all_edges = true},
                      .slot = slot,
                      .export = export};
    x.t.combine_limit = c->direct ? INT64_MAX : slot.block_bytes;
    sk_status st = prepare(&x);
    if (st == SK_OK) {
        x.epoch = slot.in_step && !slot.common ? sk_epoch_together(s, slot.slot_bytes)
                                               : sk_epoch(s, slot.slot_bytes, slot.common);
        build_exchange(&x);
    } else {
        sk_sched_fail(s, st);
    }
    sk_arena_free(x.t.arena);
}

/* ---- the algorithms ---- */

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Does every rank know the size of every block? */
static bool sizes_known(const sk_call *c)
{
    return !sk_neighbor_sized(c) && !sk_neighborhood_of(c)->some_idle;
}

static int64_t count_blocks(const sk_call *c)
{
    return sk_neighbor_gathers(c) ? 1 : (int64_t)c->nranks * sk_neighborhood_of(c)->parallel;
}

/* Where sizes are not known to all: enough for blocks of a typical size and some longer ones. */
static int64_t agreed_slot_bytes(const sk_call *c, int64_t n)
{
    if (sk_neighbor_gathers(c))
        return min_of(c->slot_bytes, SK_NEIGHBOR_ALLGATHER_SLOT);
    int64_t each =
        min_of(c->neighborhood->typical, SK_NEIGHBOR_ALLTOALL_BLOCK / SK_NEIGHBOR_TYPICAL_TIMES) *
        SK_NEIGHBOR_TYPICAL_TIMES;
    each = each < SK_NEIGHBOR_BLOCK_ALIGN ? SK_NEIGHBOR_BLOCK_ALIGN : each;
    return each > c->slot_bytes / n ? c->slot_bytes : each * n;
}

static slot_layout layout_for(const sk_call *c, bool export)
{
    int64_t block = sk_call_bytes(c);
    slot_layout p = {.n = count_blocks(c)};
    if (sk_neighbor_sized(c)) {
        p.slot_bytes = agreed_slot_bytes(c, p.n);
        p.head = SK_LENGTH_BYTES;
        p.block_bytes =
            p.slot_bytes / p.n / SK_NEIGHBOR_BLOCK_ALIGN * SK_NEIGHBOR_BLOCK_ALIGN - p.head;
    } else {
        p.block_bytes = export || block > c->slot_bytes / p.n ? SK_EXPORT_BYTES : block;
        p.slot_bytes = c->neighborhood->graph->nin + c->neighborhood->graph->nout
                           ? p.n * p.block_bytes
                           : SK_NO_PART;
    }
    return p;
}

/* ---- fits ---- */

static bool on_one_node(const sk_call *c)
{
    const sk_machine *m = sk_neighborhood_of(c)->machine;
    return m && m->nnodes == 1 && sk_neighborhood_of(c)->parallel > 0 &&
           c->slot_bytes / count_blocks(c) >= SK_NEIGHBOR_BLOCK_ALIGN;
}

static bool fits_shm(const sk_call *c)
{
    return on_one_node(c) &&
           (!sizes_known(c) || sk_call_bytes(c) <= c->slot_bytes / count_blocks(c));
}

static bool fits_single_copy(const sk_call *c)
{
    return on_one_node(c) && c->direct;
}

/* Messages of the busiest rank in the direct pattern. */
static int64_t max_degree(const sk_call *c)
{
    int64_t n = 0;
    for (int i = 0; i < SK_NLEVELS; i++)
        n += sk_neighborhood_of(c)->load[SK_METHOD_DIRECT].messages[i];
    return n;
}

/* What some rank may have to pack. Where sizes are not known, ranks cannot agree on a bound. */
static int64_t scratch_single_copy(const sk_call *c)
{
    int64_t edges = 1 + max_degree(c) * sk_neighborhood_of(c)->parallel, block = sk_call_bytes(c);
    bool huge = block > INT64_MAX - SK_NEIGHBOR_BLOCK_ALIGN;
    return sizes_known(c) && block
               ? sk_scratch_bytes(edges, huge ? block : block + SK_NEIGHBOR_BLOCK_ALIGN)
               : 0;
}

/* In the common slot short blocks share cache lines, and blocks of consecutive ranks are one copy. That
 * pays with many neighbours, since a rank waits for all ranks of the node. */
static bool use_common_slot(const sk_call *c)
{
    return sk_neighbor_gathers(c) && sizes_known(c) && max_degree(c) >= SK_NEIGHBOR_COMMON_SLOT &&
           sk_call_bytes(c) > 0 && sk_intra_use_common(c, c->nranks * sk_call_bytes(c));
}

static void build_shm(sk_sched *s, const sk_call *c)
{
    slot_layout slot = layout_for(c, false);
    slot.common = use_common_slot(c);
    slot.in_step = max_degree(c) >= SK_NEIGHBOR_IN_STEP; /* else some ranks wait for few others */
    if (slot.common)
        slot.slot_bytes = c->nranks * slot.block_bytes;
    exchange(s, c, slot, false);
}

static void build_single_copy(sk_sched *s, const sk_call *c)
{
    exchange(s, c, layout_for(c, true), true);
}

/* As if all ranks had as many neighbours as the busiest one. */
static sk_ways ways(const sk_call *c)
{
    sk_copy_costs x = sk_copy_costs_of(c);
    double d = (double)max_degree(c), b = (double)sk_call_bytes(c), p = c->nranks;
    double slots = b * (d * x.out + (sk_neighbor_gathers(c) ? 1 : d) * x.in),
           single = d * (b * x.read + x.call) + x.wait;
    return (sk_ways){.slots = sk_copy_time(&x, slots, p * slots),
                     .single = sk_copy_time(&x, single, p * single)};
}

#define SHM(COLL)                                                                                  \
    {                                                                                              \
        .name = "shm", .coll = (COLL),                                                             \
        .about = "through shared memory; all neighbours on one node", .fits = fits_shm,            \
        .build = build_shm, .rule = {{.when = SK_WHEN_ONE_NODE}},                                  \
    }

#define SINGLE_COPY(COLL)                                                                          \
    {                                                                                              \
        .name = "single-copy", .coll = (COLL),                                                     \
        .about = "ranks read each other's buffers; long blocks, all neighbours on one node",       \
        .fits = fits_single_copy, .scratch = scratch_single_copy, .build = build_single_copy,      \
        .rule = {{.when = SK_WHEN_ONE_NODE, .from = SK_SET_SINGLE_COPY, .ways = ways}},            \
    }

const sk_algo sk_neighbor_allgather_shm = SHM(SK_NEIGHBOR_ALLGATHER);
const sk_algo sk_neighbor_allgather_single_copy = SINGLE_COPY(SK_NEIGHBOR_ALLGATHER);
const sk_algo sk_neighbor_allgatherv_shm = SHM(SK_NEIGHBOR_ALLGATHERV);
const sk_algo sk_neighbor_alltoall_shm = SHM(SK_NEIGHBOR_ALLTOALL);
const sk_algo sk_neighbor_alltoall_single_copy = SINGLE_COPY(SK_NEIGHBOR_ALLTOALL);
const sk_algo sk_neighbor_alltoallv_shm = SHM(SK_NEIGHBOR_ALLTOALLV);
const sk_algo sk_neighbor_alltoallw_shm = SHM(SK_NEIGHBOR_ALLTOALLW);
