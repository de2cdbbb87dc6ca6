/* phase_neighbor_near.c: hauls of equal blocks between node mates go through shared memory.
 *
 * Every stage of the pattern is a turn. What a rank has for its mates in a stage it puts into its
 * bay, and each of them takes its part. Where that stands both must know without a word: for
 * allgather the block of a source stands at its rank, once for all mates, so that they read one
 * combined buffer; for alltoall, and for blocks too long for that, a haul stands at the mate that
 * gets it.
 * All mates must append the same turns. So this is for calls whose block all ranks know: not for
 * the v and w forms, nor where some rank has no neighbours. */
#include "neighbor/lowering/neighbor.h"

enum { MOST_STAGES = 48 }; /* wires have room for some more turns at once */

/* Bytes of a bay; 0: the hauls do not fit. The same for all mates. */
static int64_t room_for(sk_tour *t, const sk_load *load, int mates)
{
    int64_t room = t->c->room, most = t->gather ? load->near_blocks : load->near_parcels;
    if (most == 0 || load->stages > MOST_STAGES)
        return 0;
    t->near.by_source = t->gather && t->block <= room / t->c->nranks;
    if (t->near.by_source)
        return t->block * t->c->nranks;
    if (t->block > room / most / mates)
        return 0;
    t->near.stride = t->block * most;
    return t->near.stride * mates;
}

/* Mark the pieces whose block another piece of the same turn puts into the bay. */
static sk_status mark_twice(sk_tour *t)
{
    int *seen = sk_arena_get(t->arena, (size_t)t->c->nranks * sizeof *seen);
    if (!seen)
        return SK_NOMEM;
    for (int i = 0; i < t->turn_legs[t->nturns]; i++) {
        const sk_leg *l = &t->legs[i];
        for (int k = l->first; k < l->first + l->n && l->near && l->out; k++) {
            sk_piece *p = &t->pieces[k];
            p->twice = seen[p->src] == l->turn + 1;
            seen[p->src] = l->turn + 1;
        }
    }
    return SK_OK;
}

sk_status sk_tour_share(sk_tour *t, const sk_load *load)
{
    const sk_machine *m = t->c->hood->machine;
    int mates, me = t->c->rank;
    if (t->sized || t->c->room == 0 || !m || t->c->hood->lonely)
        return SK_OK;
    sk_machine_mates(m, me, &mates);
    int64_t room = room_for(t, load, mates);
    if (room == 0 || mates == 1)
        return SK_OK;
    for (int i = 0; i < t->turn_legs[t->nturns]; i++)
        t->legs[i].near = m->node[t->legs[i].peer] == m->node[me];
    t->near.first = sk_turn(t->s, room, false);
    for (int64_t i = 1; i < load->stages; i++)
        sk_turn(t->s, room, false);
    return t->near.by_source ? mark_twice(t) : SK_OK;
}

sk_span sk_tour_bay(const sk_tour *t, int k)
{
    const sk_piece *p = &t->pieces[k];
    const sk_leg *l = &t->legs[p->leg];
    int getter = l->out ? l->peer : t->c->rank;
    int64_t at = t->near.by_source ? p->src * t->block
                                   : t->c->hood->machine->mate[getter] * t->near.stride +
                                         (k - l->first) * t->block;
    return sk_bay(t->near.first + l->stage, at, t->block);
}

/* Only two turns that follow each other may be in use at once. */
bool sk_tour_may_fill_early(const sk_tour *t, const sk_leg *l)
{
    int last = t->turn_legs[l->turn] - 1;
    return !l->near || l->stage <= (last < 0 ? 0 : t->legs[last].stage) + 1;
}
