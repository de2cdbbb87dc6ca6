/* pnp.c: see pnp.h. */
#include "match/pnp.h"

#include <stdlib.h>

void sk_pnp_init(sk_pnp *p, uint32_t theta, uint32_t budget, sk_bin **chain)
{
    *p = (sk_pnp){.theta = theta, .left = budget, .roomy = SK_ROOMY, .chain = chain};
    p->limit = p->base.room = budget ? theta : SK_ROOMY;
    p->first = p->open = &p->base;
    sk_bin_chain(&p->base.bin, chain);
    sk_bin_chain(&p->any, chain);
}

void sk_pnp_clear(sk_pnp *p)
{
    while (p->levels) {
        sk_pnp_level *l = p->levels;
        p->levels = l->made;
        free(l);
    }
    free(p->partners);
}

/* The open queue has as many items as its limit. When nobody stands out among them, try again only
 * when there are twice as many: looking for partners reads all of them. */
static void pnp_full(sk_pnp *p)
{
    if (sk_pnp_extract(p))
        return;
    uint32_t more = p->limit < SK_ROOMY / 2 ? p->limit : SK_ROOMY - p->limit;
    p->limit += more;
    p->open->room += more;
}

static void pnp_share(sk_pnp *p, sk_item *item)
{
    sk_shared *s = p->open;
    if (!s->bin.items.head && p->left)
        p->limit = s->room = p->theta; /* an empty queue starts afresh */
    sk_bin_put(&s->bin, item, &s->room);
    if (s->room == 0)
        pnp_full(p);
}

void sk_pnp_add(sk_pnp *p, sk_item *item)
{
    const sk_partner *partner = p->levels ? sk_pnp_partner(p, item->source) : NULL;
    if (partner) {
        sk_bin_enliven(partner->bin, &p->live);
        sk_bin_put(partner->bin, item, &p->roomy);
    } else if (p->levels && item->source == SK_ANY_SOURCE) {
        sk_bin_put(&p->any, item, &p->roomy);
    } else {
        pnp_share(p, item);
    }
}

/* Shared queues that are empty and closed are left out from now on. */
static sk_shared *shared_skip(const sk_pnp *p, sk_shared *s)
{
    while (s && s != p->open && !s->bin.items.head)
        s = s->next;
    return s;
}

sk_item *sk_pnp_find(sk_pnp *p, sk_match_side side, const sk_item *item, uint64_t *looked)
{
    if (!p->levels)
        return sk_bin_find(&p->base.bin, side, item, looked);
    const sk_partner *partner = sk_pnp_partner(p, item->source);
    const uint32_t last = partner ? partner->level : UINT32_MAX;
    sk_item *best = NULL;
    p->first = shared_skip(p, p->first);
    for (sk_shared *s = p->first; s && s->level <= last && !best; s = s->next) {
        s->next = shared_skip(p, s->next);
        best = sk_bin_find(&s->bin, side, item, looked);
    }
    if (best && best->queue == &p->base.bin)
        return best; /* older than all others */
    if (item->source == SK_ANY_SOURCE)
        best = sk_bins_older(&p->live, side, item, best, looked);
    else if (partner && !best)
        best = sk_bin_find(partner->bin, side, item, looked);
    return sk_bin_older(&p->any, side, item, best, looked);
}
