/* equal.c: blocks that are all of one size. On the wire a bundle is packed bytes, block after block, or, if
 * they are long, as many messages.
 * Each rank decides for itself whether these bytes are in scratch or in the user's buffer: blocks that
 * are contiguous there in the right order are neither copied nor packed. A bundle between ranks of a
 * node is put into shared memory, and copied from there directly to the user's edges, unless it is
 * forwarded. */
#include "neighbor/lowering/lowering.h"
#include "neighbor/tuning.h"

/* ---- bundles through shared memory ----
 *
 * Every stage of the pattern is an epoch. A rank puts what it has for the other ranks of its node in a
 * stage into its slot, and each of them copies its part from there. Both sides compute the offsets
 * without messages. Allgather: the block of a source is once in the slot, at its place (sk_slot_place) or at
 * the index of its rank, and all local ranks read it there. Alltoall, and allgather with blocks too long for that: a bundle is at
 * the index of the local rank that receives it.
 *
 * All local ranks must append the same epochs. So this is for calls whose block size all ranks know: not
 * for the v and w forms, nor where some rank has no neighbours. */

/* Bytes of a slot; 0: the bundles do not fit. The same on all ranks of the node. */
static int64_t slot_bytes_for(sk_lowering *t, const sk_load *load, int local_ranks)
{
    int64_t most_bytes = t->c->slot_bytes,
            most = t->gather ? load->max_intra_allgather_blocks : load->max_intra_alltoall_blocks;
    if (most == 0 || load->stages > SK_NEIGHBOR_SLOT_STAGES)
        return 0;
    int64_t places = load->slot_places < t->c->nranks ? load->slot_places : t->c->nranks;
    t->intra.by_place = load->slot_places < t->c->nranks;
    t->intra.by_source = t->gather && t->block <= most_bytes / places;
    if (t->intra.by_source)
        return t->block * places;
    if (t->block > most_bytes / most / local_ranks)
        return 0;
    t->intra.stride = t->block * most;
    return t->intra.stride * local_ranks;
}

/* Marks the wire blocks whose data another wire block of the same phase puts into the slot. */
static sk_status mark_duplicates(sk_lowering *t)
{
    int *seen = sk_arena_get(t->arena, (size_t)t->c->nranks * sizeof *seen);
    if (!seen)
        return SK_NOMEM;
    for (int i = 0; i < t->phase_transfers[t->nphases]; i++) {
        const sk_transfer *l = &t->transfers[i];
        for (int k = l->first; k < l->first + l->n && l->intra && l->out; k++) {
            sk_wire_block *p = &t->blocks[k];
            p->duplicate = seen[p->src] == l->phase + 1;
            seen[p->src] = l->phase + 1;
        }
    }
    return SK_OK;
}

sk_status sk_lowering_use_slots(sk_lowering *t, const sk_load *load)
{
    const sk_machine *m = sk_neighborhood_of(t->c)->machine;
    int local_ranks, me = t->c->rank;
    if (t->sized || t->c->slot_bytes == 0 || !m || sk_neighborhood_of(t->c)->some_idle)
        return SK_OK;
    sk_machine_local_ranks(m, me, &local_ranks);
    int64_t bytes = slot_bytes_for(t, load, local_ranks);
    if (bytes == 0 || local_ranks == 1)
        return SK_OK;
    for (int i = 0; i < t->phase_transfers[t->nphases]; i++)
        t->transfers[i].intra = m->node[t->transfers[i].peer] == m->node[me];
    t->intra.first_epoch = sk_epoch(t->s, bytes, false);
    for (int64_t i = 1; i < load->stages; i++)
        sk_epoch(t->s, bytes, false);
    return t->intra.by_source ? mark_duplicates(t) : SK_OK;
}

/* The position of wire block k in the slot of its sender. */
static sk_span slot_of(const sk_lowering *t, int k)
{
    const sk_wire_block *p = &t->blocks[k];
    const sk_transfer *l = &t->transfers[p->transfer];
    const sk_machine *m = sk_neighborhood_of(t->c)->machine;
    int getter = l->out ? l->peer : t->c->rank;
    int place = t->intra.by_place ? sk_slot_place(m, m->node[getter], p->src) : p->src;
    int64_t at = t->intra.by_source
                     ? place * t->block
                     : m->local_rank[getter] * t->intra.stride + (k - l->first) * t->block;
    return sk_slot(t->intra.first_epoch + l->stage, at, t->block);
}

/* May the slot of a transfer be filled during the phase before? Only two consecutive epochs may be in
 * use at once. */
static bool may_fill_early(const sk_lowering *t, const sk_transfer *l)
{
    int last = t->phase_transfers[l->phase] - 1;
    return !l->intra || l->stage <= (last < 0 ? 0 : t->transfers[last].stage) + 1;
}

/* The edge into which a wire block for this rank may be received directly. */
static sk_span first_edge(const sk_lowering *t, const sk_wire_block *p)
{
    int first;
    return sk_lowering_edges(t, p->src, &first) ? sk_lowering_edge(t, first) : (sk_span){0};
}

static sk_span block_span(const sk_lowering *t, int k)
{
    const sk_wire_block *p = &t->blocks[k];
    const sk_transfer *l = &t->transfers[p->transfer];
    if (l->intra && l->out)
        return slot_of(t, k);
    if (l->split && p->mine)
        return first_edge(t, p);
    return sk_span_cut(t->c->types, l->span, (l->split ? p->at : k - l->first) * t->block,
                       t->block);
}

static sk_span source(const sk_lowering *t, const sk_wire_block *p)
{
    return p->from == SK_OWN ? sk_lowering_send_block(t, p->dst) : block_span(t, p->from);
}

/* True when the blocks of a transfer are contiguous in the user's buffer; *all is their span. */
static bool are_contiguous(const sk_lowering *t, const sk_transfer *l, sk_span *all)
{
    sk_span run = {0};
    for (int i = l->first; i < l->first + l->n; i++) {
        const sk_wire_block *p = &t->blocks[i];
        if (!l->out && !p->mine)
            return false;
        if (!sk_span_join(t->c->types, &run, l->out ? source(t, p) : first_edge(t, p)))
            return false;
    }
    *all = run;
    return true;
}

static bool is_forwarded(const sk_lowering *t, const sk_transfer *l)
{
    for (int i = l->first; i < l->first + l->n; i++)
        if (t->blocks[i].forwarded)
            return true;
    return false;
}

/* Blocks for this rank go to their edges, others to scratch. */
static void split(sk_lowering *t, sk_transfer *l)
{
    int others = 0;
    for (int i = l->first; i < l->first + l->n && !l->out; i++)
        if (!t->blocks[i].mine)
            t->blocks[i].at = others++;
    if (others)
        l->span = sk_scratch(t->s, others * t->block);
    l->split = true;
}

static void prepare(sk_lowering *t)
{
    for (int i = 0; i < t->phase_transfers[t->nphases]; i++) {
        sk_transfer *l = &t->transfers[i];
        if (l->intra && l->out) {
            l->packed = true;
            continue;
        }
        if (!l->intra && t->block >= SK_NEIGHBOR_SPLIT) {
            split(t, l);
            continue;
        }
        if (are_contiguous(t, l, &l->span))
            continue;
        if (l->intra && !is_forwarded(t, l)) {
            l->scattered = true;
            continue;
        }
        l->span = sk_scratch(t->s, l->n * t->block);
        l->packed = true;
    }
}

/* Consecutive blocks are copied, or taken from a slot, as one run. */
typedef struct copy_run {
    sk_lowering *t;
    const sk_transfer *from; /* the slot of its peer; NULL: this rank's memory */
    sk_span user, packed;
} copy_run;

static void flush(copy_run *c, bool out)
{
    if (c->from)
        sk_take(c->t->s, c->from->peer, c->packed, c->user);
    else
        sk_copy(c->t->s, out ? c->user : c->packed, out ? c->packed : c->user);
    c->user.len = c->packed.len = 0;
}

static void add(copy_run *c, sk_span user, sk_span packed, bool out)
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

static void assemble(sk_lowering *t, int phase, bool early)
{
    for (int i = t->phase_transfers[phase]; i < t->phase_transfers[phase + 1]; i++) {
        const sk_transfer *l = &t->transfers[i];
        copy_run c = {.t = t};
        if (!l->out || !l->packed)
            continue;
        bool may = may_fill_early(t, l);
        for (int k = l->first; k < l->first + l->n; k++)
            if (!t->blocks[k].duplicate &&
                (may && sk_wire_block_arrival(t, &t->blocks[k]) < phase - 1) == early)
                add(&c, source(t, &t->blocks[k]), block_span(t, k), true);
        flush(&c, true);
    }
}

/* From the slot directly into all edges of the source. */
static void take_scattered(copy_run *c, int b)
{
    const sk_lowering *t = c->t;
    int first, n = t->blocks[b].mine ? sk_lowering_edges(t, t->blocks[b].src, &first) : 0;
    if (n > 0)
        add(c, sk_lowering_edge(t, first), slot_of(t, b), false);
    for (int k = 1; k < n; k++)
        sk_take(t->s, c->from->peer, slot_of(t, b), sk_lowering_edge(t, first + k));
}

static void take(sk_lowering *t, const sk_transfer *l)
{
    copy_run c = {.t = t, .from = l};
    for (int k = l->first; k < l->first + l->n; k++)
        if (l->scattered)
            take_scattered(&c, k);
        else
            add(&c, block_span(t, k), slot_of(t, k), false);
    flush(&c, false);
}

static void transfer(sk_lowering *t, const sk_transfer *l)
{
    if (l->intra)
        take(t, l);
    else if (l->split)
        for (int k = l->first; k < l->first + l->n; k++)
            if (l->out)
                sk_send(t->s, source(t, &t->blocks[k]), l->peer);
            else
                sk_recv(t->s, block_span(t, k), l->peer);
    else if (l->out)
        sk_send(t->s, l->span, l->peer);
    else
        sk_recv(t->s, l->span, l->peer);
}

/* From the first edge of a source to its further edges. */
static void copy_to_parallel_edges(sk_lowering *t, int b)
{
    int first, n = sk_lowering_edges(t, t->blocks[b].src, &first);
    for (int k = 1; k < n; k++)
        sk_copy(t->s, block_span(t, b), sk_lowering_edge(t, first + k));
}

static void deliver(sk_lowering *t, int phase)
{
    for (int i = t->phase_transfers[phase]; i < t->phase_transfers[phase + 1]; i++) {
        const sk_transfer *l = &t->transfers[i];
        copy_run c = {.t = t};
        for (int k = l->first; k < l->first + l->n && !l->out && !l->scattered; k++) {
            if (!t->blocks[k].mine)
                continue;
            if (l->packed)
                add(&c, first_edge(t, &t->blocks[k]), block_span(t, k), false);
            copy_to_parallel_edges(t, k);
        }
        flush(&c, false);
    }
}

const sk_layout sk_layout_equal = {prepare, assemble, transfer, deliver};
