/* phase_neighbor_legs.c: bundles cut into pieces, and where each piece that goes on came from. */
#include <stdlib.h>

#include "neighbor/lowering/neighbor.h"

typedef struct arrival {
    sk_block block;
    int piece;
} arrival;

static int by_block(const void *pa, const void *pb)
{
    const sk_block *a = &((const arrival *)pa)->block, *b = &((const arrival *)pb)->block;
    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    return a->dst < b->dst ? -1 : a->dst > b->dst;
}

/* Blocks sorted by source become pieces; of those that come in, every block is noted. */
static int cut(sk_tour *t, const sk_pattern_view *v, const sk_bundle *h, int leg,
               arrival **arrivals)
{
    sk_leg *l = &t->legs[leg];
    const sk_block *block = &v->blocks[h->first];
    sk_piece *p = &t->pieces[l->first] - 1;
    for (uint32_t i = 0; i < h->n; i++) {
        if (i == 0 || !t->gather || block[i].src != block[i - 1].src)
            *++p = (sk_piece){.leg = leg, .src = block[i].src, .dst = block[i].dst, .from = SK_OWN};
        p->mine |= block[i].dst == v->rank;
        if (!h->out)
            *(*arrivals)++ = (arrival){block[i], (int)(p - t->pieces)};
    }
    return l->n = (int)(p - &t->pieces[l->first]) + 1;
}

static sk_status trace(sk_tour *t, sk_leg *l, const arrival *arrivals, size_t n)
{
    for (int i = l->first; i < l->first + l->n; i++) {
        sk_piece *p = &t->pieces[i];
        if (p->src == t->c->rank)
            continue;
        arrival key = {{p->src, p->dst}, 0};
        const arrival *a = bsearch(&key, arrivals, n, sizeof key, by_block);
        if (!a || t->legs[t->pieces[a->piece].leg].epoch >= l->epoch)
            return SK_BADARG; /* a pattern that sends what it does not have */
        p->from = a->piece;
        t->pieces[a->piece].onward = true;
    }
    return SK_OK;
}

/* Stage 0 is epoch 0, whether or not there are bundles in it. */
static void count_epochs(sk_tour *t, const sk_pattern_view *v)
{
    int epoch = 0;
    for (size_t i = 0; i < v->nbundles; i++) {
        if (v->bundles[i].stage > (i ? v->bundles[i - 1].stage : 0))
            t->epoch_legs[++epoch] = (int)i;
        t->legs[i].epoch = epoch;
        t->legs[i].stage = v->bundles[i].stage;
    }
    t->nturns = epoch + 1;
    t->epoch_legs[t->nturns] = (int)v->nbundles;
}

sk_status sk_tour_legs(sk_tour *t, const sk_pattern *pattern)
{
    const sk_pattern_view *v = sk_pattern_view_get(pattern);
    arrival *arrivals = sk_arena_get(t->arena, (v->nblocks + 1) * sizeof *arrivals), *end;
    t->legs = sk_arena_get(t->arena, (v->nbundles + 1) * sizeof *t->legs);
    t->epoch_legs = sk_arena_get(t->arena, (v->nbundles + 2) * sizeof *t->epoch_legs);
    t->pieces = sk_arena_get(t->arena, (v->nblocks + 1) * sizeof *t->pieces);
    if (!arrivals || !t->legs || !t->epoch_legs || !t->pieces)
        return SK_NOMEM;
    count_epochs(t, v);
    end = arrivals;
    for (size_t i = 0, pieces = 0; i < v->nbundles; i++) {
        t->legs[i].peer = v->bundles[i].peer;
        t->legs[i].out = v->bundles[i].out;
        t->legs[i].first = (int)pieces;
        pieces += (size_t)cut(t, v, &v->bundles[i], (int)i, &end);
    }
    size_t n = (size_t)(end - arrivals);
    qsort(arrivals, n, sizeof *arrivals, by_block);
    for (size_t i = 0; i < v->nbundles; i++)
        if (t->legs[i].out && trace(t, &t->legs[i], arrivals, n) != SK_OK)
            return SK_BADARG;
    return SK_OK;
}

int sk_piece_came(const sk_tour *t, const sk_piece *p)
{
    return p->from == SK_OWN ? SK_OWN : t->legs[t->pieces[p->from].leg].epoch;
}
