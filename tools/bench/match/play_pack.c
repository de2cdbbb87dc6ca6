/* play_pack.c: items that take the places of those that have gone. Who meets whom is known from the
 * play before. */
#include <stdlib.h>

#include "bench/match/player.h"

/* The places that are free: a stack, as an allocator would have it. */
typedef struct packing {
    uint32_t *free, nfree, used;
    bool *queued; /* by id */
} packing;

static bool pack_op(sk_player *p, packing *k, const sk_trace_record *r)
{
    uint32_t other;
    switch (r->op) {
    case SK_TRACE_POST:
    case SK_TRACE_DELIVER:
        p->place[r->id] = k->nfree ? k->free[--k->nfree] : k->used++;
        other = p->partner[r->id];
        if (other == SK_NOBODY || other > r->id) { /* it waits, perhaps for one that comes later */
            k->queued[r->id] = true;
            return true;
        }
        k->queued[other] = false;
        k->free[k->nfree++] = p->place[other];
        k->free[k->nfree++] = p->place[r->id];
        return true;
    case SK_TRACE_CLAIM:
    case SK_TRACE_CANCEL:
        if (!k->queued[r->id])
            return false;
        k->queued[r->id] = false;
        k->free[k->nfree++] = p->place[r->id];
        return true;
    default:
        return true;
    }
}

sk_status sk_player_pack(sk_player *p)
{
    size_t n = (size_t)p->nitems + 1;
    packing k = {.free = malloc(2 * n * sizeof *k.free), .queued = calloc(n, sizeof *k.queued)};
    sk_status st = k.free && k.queued ? SK_OK : SK_NOMEM;
    for (size_t i = 0; st == SK_OK && i < p->s->n; i++)
        if (!pack_op(p, &k, &p->s->ops[i]))
            st = SK_BADARG;
    free(k.free);
    free(k.queued);
    if (st != SK_OK)
        return st;
    free(p->partner);
    p->partner = NULL;
    p->nitems = k.used;
    sk_match_item *fewer = realloc(p->items, ((size_t)k.used + 1) * sizeof *p->items);
    p->items = fewer ? fewer : p->items;
    return SK_OK;
}
