/* contexts.c: receives by the context of their call: a table of chains, doubled when it is full. */
#include <stdlib.h>

#include "fabric/endpoint.h"

static sk_recv **contexts_at(const sk_contexts *c, const void *context)
{
    uint64_t h = (uint64_t)(uintptr_t)context * UINT64_C(0x9e3779b97f4a7c15);
    return &c->bucket[(h >> 32) & (c->size - 1)];
}

static bool contexts_grow(sk_contexts *c)
{
    sk_contexts big = {.size = c->size ? 2 * c->size : 256, .count = c->count};
    big.bucket = calloc(big.size, sizeof(sk_recv *));
    if (!big.bucket)
        return false;
    for (size_t i = 0; i < c->size; i++)
        for (sk_recv *r = c->bucket[i], *next; r; r = next) {
            sk_recv **at = contexts_at(&big, r->context);
            next = r->beside;
            r->beside = *at;
            *at = r;
        }
    free(c->bucket);
    *c = big;
    return true;
}

bool sk_contexts_add(sk_ep *ep, sk_recv *r)
{
    sk_contexts *c = &ep->contexts;
    if (c->count == c->size && !contexts_grow(c))
        return false;
    sk_recv **at = contexts_at(c, r->context);
    r->beside = *at;
    *at = r;
    r->listed = true;
    c->count++;
    return true;
}

void sk_contexts_remove(sk_ep *ep, sk_recv *r)
{
    if (!r->listed)
        return;
    sk_recv **at = contexts_at(&ep->contexts, r->context);
    while (*at != r)
        at = &(*at)->beside;
    *at = r->beside;
    r->listed = false;
    ep->contexts.count--;
}

sk_recv *sk_contexts_find(sk_ep *ep, void *context)
{
    sk_recv *r = ep->contexts.size ? *contexts_at(&ep->contexts, context) : NULL;
    while (r && (r->context != context || r->item.side != SK_POSTED))
        r = r->beside;
    return r;
}
