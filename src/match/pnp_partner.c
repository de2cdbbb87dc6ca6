/* pnp_partner.c: who becomes a partner, and the table of partners. */
#include <stdlib.h>

#include "match/pnp.h"

static uint32_t hash(uint32_t source)
{
    return (source * 0x9e3779b1u) >> 7;
}

static sk_partner *partner_slot(sk_partner *slots, uint32_t nslots, uint32_t source)
{
    for (uint32_t i = hash(source);; i++) {
        sk_partner *at = &slots[i & (nslots - 1)];
        if (!at->bin || at->source == source)
            return at;
    }
}

const sk_partner *sk_pnp_partner(const sk_pnp *p, uint32_t source)
{
    const sk_partner *at = partner_slot(p->partners, p->nslots, source);
    return at->bin ? at : NULL;
}

/* At most half of the slots are taken. */
static bool partners_reserve(sk_pnp *p, uint32_t more)
{
    uint32_t n = p->nslots ? p->nslots : 8;
    while (n / 2 < p->nqueues + more)
        n *= 2;
    if (n == p->nslots)
        return true;
    sk_partner *slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < p->nslots; i++)
        if (p->partners[i].bin)
            *partner_slot(slots, n, p->partners[i].source) = p->partners[i];
    free(p->partners);
    p->bytes += (n - p->nslots) * sizeof *slots;
    p->partners = slots;
    p->nslots = n;
    return true;
}

/* How many items of the open queue each source has. */
typedef struct share {
    uint32_t source, items;
} share;

typedef struct census {
    share *shares; /* hashed; items 0: free */
    uint32_t nslots, sources;
    uint64_t items;
} census;

static share *census_slot(const census *c, uint32_t source)
{
    for (uint32_t i = hash(source);; i++) {
        share *at = &c->shares[i & (c->nslots - 1)];
        if (!at->items || at->source == source)
            return at;
    }
}

static bool census_take(census *c, const sk_pnp *p)
{
    *c = (census){.nslots = 16};
    while (c->nslots / 2 < p->limit && c->nslots <= UINT32_MAX / 2)
        c->nslots *= 2;
    c->shares = calloc(c->nslots, sizeof *c->shares);
    if (!c->shares)
        return false;
    for (const sk_item *i = p->open->bin.items.head; i; i = i->next) {
        if (i->source == SK_ANY_SOURCE)
            continue;
        share *s = census_slot(c, i->source);
        c->sources += s->items == 0;
        s->source = i->source;
        s->items++;
        c->items++;
    }
    return true;
}

static bool stands_out(const census *c, const share *s)
{
    return (uint64_t)s->items * c->sources > c->items;
}

static sk_pnp_level *level_new(sk_pnp *p, uint32_t nbins)
{
    size_t bytes = sizeof(sk_pnp_level) + nbins * sizeof(sk_bin);
    sk_pnp_level *l = calloc(1, bytes);
    if (!l)
        return NULL;
    for (uint32_t i = 0; i < nbins; i++)
        sk_bin_chain(&l->bins[i], p->chain);
    sk_bin_chain(&l->shared.bin, p->chain);
    l->shared.level = p->open->level + 1;
    l->made = p->levels;
    p->levels = l;
    p->bytes += bytes;
    return l;
}

/* From now on, items go to the level. */
static void level_open(sk_pnp *p, sk_pnp_level *l)
{
    p->limit = p->left ? p->theta : SK_ROOMY;
    l->shared.room = p->limit;
    p->open->next = &l->shared;
    p->open = &l->shared;
}

bool sk_pnp_extract(sk_pnp *p)
{
    census c;
    uint32_t n = 0;
    sk_pnp_level *l = NULL;
    if (!p->left || !census_take(&c, p))
        return false;
    for (uint32_t i = 0; i < c.nslots && n < p->left; i++)
        n += stands_out(&c, &c.shares[i]);
    if (n && partners_reserve(p, n))
        l = level_new(p, n);
    if (l) {
        for (uint32_t i = 0, made = 0; made < n; i++) {
            const share *s = &c.shares[i];
            if (stands_out(&c, s))
                *partner_slot(p->partners, p->nslots, s->source) =
                    (sk_partner){s->source, p->open->level, &l->bins[made++]};
        }
        p->left -= n;
        p->nqueues += n;
        level_open(p, l);
    }
    free(c.shares);
    return l != NULL;
}
