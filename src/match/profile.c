/* profile.c: see profile.h. */
#include "match/profile.h"

#include <stdlib.h>

static bool same(const sk_profile *p, const sk_item *item)
{
    return p->kind == item->kind && p->size == item->size && p->nranks == item->nranks;
}

static uint32_t hash(uint16_t kind, uint8_t size, uint32_t nranks)
{
    uint64_t key = (uint64_t)nranks << 24 | (uint32_t)kind << 8 | size;
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32);
}

sk_profile *sk_profiles_get(const sk_profiles *t, const sk_item *item)
{
    if (!t->nslots)
        return NULL;
    for (uint32_t i = hash(item->kind, item->size, item->nranks);; i++) {
        sk_profile *p = t->slots[i & (t->nslots - 1)];
        if (!p || same(p, item))
            return p;
    }
}

static void profiles_put(sk_profile **slots, uint32_t nslots, sk_profile *p)
{
    uint32_t i = hash(p->kind, p->size, p->nranks);
    while (slots[i & (nslots - 1)])
        i++;
    slots[i & (nslots - 1)] = p;
}

static bool profiles_grow(sk_profiles *t)
{
    uint32_t n = t->nslots ? t->nslots * 2 : 16;
    sk_profile **slots = calloc(n, sizeof(sk_profile *));
    if (!slots)
        return false;
    for (uint32_t i = 0; i < t->nslots; i++)
        if (t->slots[i])
            profiles_put(slots, n, t->slots[i]);
    free(t->slots);
    t->slots = slots;
    t->nslots = n;
    return true;
}

sk_profile *sk_profiles_make(sk_profiles *t, const sk_item *item)
{
    sk_profile *p = sk_profiles_get(t, item);
    if (p)
        return p;
    if (t->count == SK_MAX_PROFILES || (t->count * 2 >= t->nslots && !profiles_grow(t)))
        return NULL;
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->room = SK_ROOMY;
    p->kind = item->kind;
    p->size = item->size;
    p->nranks = item->nranks;
    profiles_put(t->slots, t->nslots, p);
    t->count++;
    return p;
}

size_t sk_profiles_bytes(const sk_profiles *t)
{
    return t->nslots * sizeof(sk_profile *) + t->count * sizeof(sk_profile);
}

void sk_profiles_clear(sk_profiles *t)
{
    for (uint32_t i = 0; i < t->nslots; i++)
        free(t->slots[i]);
    free(t->slots);
    *t = (sk_profiles){0};
}

bool sk_profile_ends(sk_profile *p, const sk_item *item, bool receive)
{
    if (receive && (!p->searches || !p->call))
        p->call = item->call;
    bool other = item->call && item->call != p->call;
    if (!p->searches)
        return false;
    if (receive && other)
        return true;
    return (other || !item->call) && p->room == SK_ROOMY;
}

uint64_t sk_profile_wants(const sk_profile *p)
{
    return (p->looked + p->searches / 2) / p->searches;
}
