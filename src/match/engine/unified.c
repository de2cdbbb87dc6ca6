/* unified.c: the paper's unified design (Ghazimirsaeed et al., "Communication-aware message
 * matching in MPI"): separate queues for collectives (col.h) and for point-to-point (pnp.h), on
 * each side. The engines of this family differ only in which part may make queues; a part that may
 * make none is a list.
 *
 *   engine    collectives          point-to-point
 *   col+list  queues by profile    list
 *   list+pnp  list                 a queue per busy partner
 *   col+pnp   queues by profile    a queue per busy partner
 *
 * The cap: on each side, collectives have at most kc * sqrt(n) dedicated queues and point-to-point
 * at most kp * sqrt(n), rounded down. So a side never has more than k * sqrt(n), k = kc + kp. The
 * cap is per side as in the paper, whose applications reach it with their posted receives alone.
 * The profiling queue and the shared queues of pnp.h are not dedicated and do not count; there is
 * at most one shared queue more than there are dedicated ones.
 *
 * Receives of any kind wait in a queue of their own, which every message searches. A search for any
 * kind goes through all queues and compares sequence numbers. */
#include <stdlib.h>

#include "match/engine.h"
#include "match/engine/col.h"
#include "match/engine/pnp.h"

/* A list up to SHORT_LIMIT items takes fewer instructions than the selection of a queue. */
enum { DEFAULT_THETA = 100, SHORT_LIMIT = 32 };

typedef struct unified_side {
    sk_pnp pnp;
    sk_col col;
    sk_bin any_kind; /* receives of any kind */
    sk_quota no_limit;
    sk_bin *all; /* bins */
} unified_side;

typedef struct unified_engine {
    unified_side side[SK_NSIDES];
} unified_engine;

static void *unified_create(const sk_match_config *config, bool col, bool pnp)
{
    unified_engine *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    uint32_t kc = config->kc ? config->kc : SK_BIN_DEFAULT_K;
    uint32_t kp = config->kp ? config->kp : SK_BIN_DEFAULT_K;
    uint32_t theta = config->theta ? config->theta : DEFAULT_THETA;
    for (int i = 0; i < SK_NSIDES; i++) {
        unified_side *s = &e->side[i];
        sk_pnp_init(&s->pnp, theta, pnp ? sk_bin_cap(kp, config->nranks) : 0, &s->all);
        sk_col_init(&s->col, col ? sk_bin_cap(kc, config->nranks) : 0, &s->all);
        s->no_limit = SK_QUOTA_MAX;
        sk_bin_register(&s->any_kind, &s->all);
    }
    return e;
}

static void unified_destroy(void *self)
{
    unified_engine *e = self;
    for (int i = 0; i < SK_NSIDES; i++) {
        sk_pnp_destroy(&e->side[i].pnp);
        sk_col_destroy(&e->side[i].col);
    }
    free(e);
}

static sk_match_item *unified_find(void *self, sk_match_side side, const sk_match_item *item,
                                   uint64_t *traversed)
{
    unified_side *s = &((unified_engine *)self)->side[side];
    sk_match_item *best = NULL;
    if (item->kind >= SK_MAX_KINDS) {
        for (const sk_bin *b = s->all; b; b = b->next)
            best = sk_bin_find_older(b, side, item, best, traversed);
        return best;
    }
    if (item->kind == SK_P2P)
        best = sk_pnp_find(&s->pnp, side, item, traversed);
    else
        best = sk_col_find(&s->col, side, item, traversed);
    return sk_bin_find_older(&s->any_kind, side, item, best, traversed);
}

static void unified_add(void *self, sk_match_item *item)
{
    unified_side *s = &((unified_engine *)self)->side[item->side];
    if (item->kind == SK_P2P)
        sk_pnp_add(&s->pnp, item);
    else if (item->kind < SK_MAX_KINDS)
        sk_col_add(&s->col, item);
    else
        sk_bin_add(&s->any_kind, item, &s->no_limit);
}

static void unified_remove(void *self, sk_match_item *item)
{
    (void)self;
    sk_bin_remove(item);
}

static sk_match_item *unified_next(void *self, sk_match_side side, sk_match_item *after)
{
    const unified_engine *e = self;
    if (after && after->next)
        return after->next;
    const sk_bin *b = after ? ((sk_bin *)after->queue)->next : e->side[side].all;
    while (b && !b->items.head)
        b = b->next;
    return b ? b->items.head : NULL;
}

static void unified_stats(const void *self, sk_match_stats *out)
{
    const unified_engine *e = self;
    out->bytes += sizeof *e;
    for (int i = 0; i < SK_NSIDES; i++) {
        const unified_side *s = &e->side[i];
        out->queues_coll[i] = s->col.nqueues;
        out->queues_p2p[i] = s->pnp.nqueues;
        out->queues += s->col.nqueues + s->pnp.nqueues;
        out->bytes += sk_col_bytes(&s->col) + s->pnp.bytes;
    }
}

static void *col_list_create(const sk_match_config *config)
{
    return unified_create(config, true, false);
}

static void *list_pnp_create(const sk_match_config *config)
{
    return unified_create(config, false, true);
}

static void *col_pnp_create(const sk_match_config *config)
{
    return unified_create(config, true, true);
}

/* All of an engine but its name, help and create. */
#define UNIFIED                                                                                    \
    .short_limit = SHORT_LIMIT, .destroy = unified_destroy, .find = unified_find,                  \
    .add = unified_add, .remove = unified_remove, .next = unified_next, .stats = unified_stats

const sk_engine sk_engine_col_list = {
    .name = "col+list",
    .help = "collectives: queues by profile; point-to-point: a list",
    .create = col_list_create,
    UNIFIED,
};

const sk_engine sk_engine_list_pnp = {
    .name = "list+pnp",
    .help = "collectives: a list; point-to-point: a queue per busy partner",
    .create = list_pnp_create,
    UNIFIED,
};

const sk_engine sk_engine_col_pnp = {
    .name = "col+pnp",
    .help = "collectives: queues by profile; point-to-point: a queue per busy partner",
    .create = col_pnp_create,
    UNIFIED,
};
