/* phase_neighbor_intra.c: bundles of equal blocks between local ranks go through shared memory.
 *
 * Every stage of the pattern is an epoch. What a rank has for its local ranks in a stage it puts into its
 * slot, and each of them takes its part. Where that stands both must know without a word: for
 * allgather the block of a source stands at its rank, once for all local ranks, so that they read one
 * combined buffer; for alltoall, and for blocks too long for that, a bundle stands at the local rank that
 * gets it.
 * All local ranks must append the same epochs. So this is for calls whose block all ranks know: not for
 * the v and w forms, nor where some rank has no neighbours. */
#include "neighbor/lowering/neighbor.h"

enum { MOST_STAGES = 48 }; /* wires have room for some more epochs at once */

/* Bytes of a slot; 0: the bundles do not fit. The same for all local ranks. */
static int64_t room_for(sk_tour *t, const sk_load *load, int local_ranks)
{
    int64_t room = t->c->slot_bytes,
            most = t->gather ? load->max_intra_allgather_blocks : load->max_intra_alltoall_blocks;
    if (most == 0 || load->stages > MOST_STAGES)
        return 0;
    t->intra.by_source = t->gather && t->block <= room / t->c->nranks;
    if (t->intra.by_source)
        return t->block * t->c->nranks;
    if (t->block > room / most / local_ranks)
        return 0;
    t->intra.stride = t->block * most;
    return t->intra.stride * local_ranks;
}

/* Mark the pieces whose block another piece of the same epoch puts into the slot. */
static sk_status mark_twice(sk_tour *t)
{
    int *seen = sk_arena_get(t->arena, (size_t)t->c->nranks * sizeof *seen);
    if (!seen)
        return SK_NOMEM;
    for (int i = 0; i < t->epoch_legs[t->nturns]; i++) {
        const sk_leg *l = &t->legs[i];
        for (int k = l->first; k < l->first + l->n && l->intra && l->out; k++) {
            sk_piece *p = &t->pieces[k];
            p->twice = seen[p->src] == l->epoch + 1;
            seen[p->src] = l->epoch + 1;
        }
    }
    return SK_OK;
}

sk_status sk_tour_share(sk_tour *t, const sk_load *load)
{
    const sk_machine *m = sk_neighborhood_of(t->c)->machine;
    int local_ranks, me = t->c->rank;
    if (t->sized || t->c->slot_bytes == 0 || !m || sk_neighborhood_of(t->c)->lonely)
        return SK_OK;
    sk_machine_local_ranks(m, me, &local_ranks);
    int64_t room = room_for(t, load, local_ranks);
    if (room == 0 || local_ranks == 1)
        return SK_OK;
    for (int i = 0; i < t->epoch_legs[t->nturns]; i++)
        t->legs[i].intra = m->node[t->legs[i].peer] == m->node[me];
    t->intra.first = sk_epoch(t->s, room, false);
    for (int64_t i = 1; i < load->stages; i++)
        sk_epoch(t->s, room, false);
    return t->intra.by_source ? mark_twice(t) : SK_OK;
}

sk_span sk_tour_slot(const sk_tour *t, int k)
{
    const sk_piece *p = &t->pieces[k];
    const sk_leg *l = &t->legs[p->leg];
    int getter = l->out ? l->peer : t->c->rank;
    int64_t at = t->intra.by_source
                     ? p->src * t->block
                     : sk_neighborhood_of(t->c)->machine->local_rank[getter] * t->intra.stride +
                           (k - l->first) * t->block;
    return sk_slot(t->intra.first + l->stage, at, t->block);
}

/* Only two epochs that follow each other may be in use at once. */
bool sk_tour_may_fill_early(const sk_tour *t, const sk_leg *l)
{
    int last = t->epoch_legs[l->epoch] - 1;
    return !l->intra || l->stage <= (last < 0 ? 0 : t->legs[last].stage) + 1;
}
