/* split.c: see split.h. */
#include "match/split.h"

#include <stdlib.h>

#include "match/col.h"
#include "match/pnp.h"

enum { DEFAULT_K = 8, DEFAULT_THETA = 100, MAX_K = 65535 };

typedef struct split_side {
    sk_pnp pnp;
    sk_col col;
    sk_bin wild; /* receives of any kind */
    sk_scratch_bytes roomy;
    sk_bin *chain; /* all bins */
} split_side;

typedef struct split {
    split_side side[SK_NSIDES];
} split;

uint32_t sk_split_cap(uint32_t k, uint32_t n)
{
    uint64_t kk = k < MAX_K ? k : MAX_K;
    uint64_t square = kk * kk * n, root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= square)
            root |= bit;
    return (uint32_t)root;
}

void *sk_split_new(const sk_match_config *config, bool col, bool pnp)
{
    split *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    uint32_t kc = config->kc ? config->kc : DEFAULT_K, kp = config->kp ? config->kp : DEFAULT_K;
    uint32_t theta = config->theta ? config->theta : DEFAULT_THETA;
    for (int i = 0; i < SK_NSIDES; i++) {
        split_side *s = &e->side[i];
        sk_pnp_init(&s->pnp, theta, pnp ? sk_split_cap(kp, config->nranks) : 0, &s->chain);
        sk_col_init(&s->col, col ? sk_split_cap(kc, config->nranks) : 0, &s->chain);
        s->roomy = SK_ROOMY;
        sk_bin_chain(&s->wild, &s->chain);
    }
    return e;
}

void sk_split_drop(void *self)
{
    split *e = self;
    for (int i = 0; i < SK_NSIDES; i++) {
        sk_pnp_clear(&e->side[i].pnp);
        sk_col_clear(&e->side[i].col);
    }
    free(e);
}

sk_item *sk_split_find(void *self, sk_match_side side, const sk_item *item, uint64_t *looked)
{
    split_side *s = &((split *)self)->side[side];
    sk_item *best = NULL;
    if (item->kind >= SK_MAX_KINDS) {
        for (const sk_bin *b = s->chain; b; b = b->chain)
            best = sk_bin_older(b, side, item, best, looked);
        return best;
    }
    if (item->kind == SK_P2P)
        best = sk_pnp_find(&s->pnp, side, item, looked);
    else
        best = sk_col_find(&s->col, side, item, looked);
    return sk_bin_older(&s->wild, side, item, best, looked);
}

void sk_split_add(void *self, sk_item *item)
{
    split_side *s = &((split *)self)->side[item->side];
    if (item->kind == SK_P2P)
        sk_pnp_add(&s->pnp, item);
    else if (item->kind < SK_MAX_KINDS)
        sk_col_add(&s->col, item);
    else
        sk_bin_put(&s->wild, item, &s->roomy);
}

void sk_split_take(void *self, sk_item *item)
{
    (void)self;
    sk_bin_take(item);
}

sk_item *sk_split_next(void *self, sk_match_side side, sk_item *after)
{
    const split *e = self;
    if (after && after->next)
        return after->next;
    const sk_bin *b = after ? ((sk_bin *)after->queue)->chain : e->side[side].chain;
    while (b && !b->items.head)
        b = b->chain;
    return b ? b->items.head : NULL;
}

void sk_split_count(const void *self, sk_match_stats *out)
{
    const split *e = self;
    out->bytes += sizeof *e;
    for (int i = 0; i < SK_NSIDES; i++) {
        const split_side *s = &e->side[i];
        out->queues_coll[i] = s->col.nqueues;
        out->queues_p2p[i] = s->pnp.nqueues;
        out->queues += s->col.nqueues + s->pnp.nqueues;
        out->bytes += s->col.bytes + sk_profiles_bytes(&s->col.profiles) + s->pnp.bytes;
    }
}
