/* col.c: see col.h. */
#include "match/col.h"

#include <stdlib.h>

void sk_col_init(sk_col *c, uint32_t budget, sk_bin **chain)
{
    *c = (sk_col){.adapts = budget > 0, .roomy = SK_ROOMY, .left = budget, .chain = chain};
    sk_bin_chain(&c->profiling, chain);
}

void sk_col_clear(sk_col *c)
{
    while (c->levels) {
        sk_col_level *l = c->levels;
        c->levels = l->made;
        free(l);
    }
    sk_profiles_clear(&c->profiles);
}

static sk_col_level *level_new(sk_col *c, uint32_t nbins)
{
    size_t bytes = sizeof(sk_col_level) + nbins * sizeof(sk_bin);
    sk_col_level *l = calloc(1, bytes);
    if (!l)
        return NULL;
    l->room = SK_ROOMY;
    l->nbins = nbins;
    for (uint32_t i = 0; i < nbins; i++)
        sk_bin_chain(&l->bins[i], c->chain);
    l->made = c->levels;
    c->levels = l;
    c->left -= nbins;
    c->nqueues += nbins;
    c->bytes += bytes;
    return l;
}

static void level_put(sk_col_level *l, sk_item *item)
{
    sk_bin *b = &l->bins[item->source % l->nbins];
    sk_bin_enliven(b, &l->live);
    sk_bin_put(b, item, &l->room);
}

/* What waits in the profiling queue for the profile moves to the level. Calls may pile up before
 * the first one ends, and the paper leaves them there. It is for the first level of a kind only: in
 * a later one they might be older than items of the level before. */
static void level_fetch(sk_col *c, sk_col_level *l, const sk_profile *p)
{
    for (sk_item *item = c->profiling.items.head, *next; item; item = next) {
        next = item->next;
        if (item->more == &p->room) {
            sk_bin_take(item);
            level_put(l, item);
        }
    }
}

/* The largest level of any kind with more queues than that. */
static sk_col_level *level_largest(const sk_col *c, uint32_t nbins)
{
    sk_col_level *best = NULL;
    for (sk_col_level *l = c->levels; l; l = l->made)
        if (l->nbins > (best ? best->nbins : nbins))
            best = l;
    return best;
}

/* The measured call is over: a level for its kind, if the last one has fewer queues than it wants
 * and the cap lets it have more. A kind that comes when the cap is reached would stay in the
 * profiling queue for good, in the way of everybody; it shares the largest level instead. What of
 * it waits already stays where it is, so that the queues there remain in order of age. */
static void col_settle(sk_col *c, sk_profile *p)
{
    sk_col_kind *k = &c->kinds[p->kind];
    uint64_t wants = sk_profile_wants(p);
    uint32_t nbins = wants < c->left ? (uint32_t)wants : c->left;
    p->over = true;
    c->running--;
    if (!k->last && nbins < wants && (k->last = level_largest(c, nbins))) {
        k->first = k->last;
        return;
    }
    if (nbins <= (k->last ? k->last->nbins : 0))
        return;
    sk_col_level *l = level_new(c, nbins);
    if (!l)
        return;
    if (k->last) {
        k->last->next = l;
    } else {
        k->first = l;
        level_fetch(c, l, p);
    }
    k->last = l;
    k->open = NULL;
}

/* The profile an item is part of; NULL: its call is not the first, or cannot be measured. */
static sk_profile *col_profile(sk_col *c, const sk_item *item)
{
    uint32_t before = c->profiles.count;
    sk_profile *p = sk_profiles_make(&c->profiles, item);
    c->running += c->profiles.count - before;
    if (p && !p->over && sk_profile_ends(p, item, item->side == SK_POSTED))
        col_settle(c, p);
    return p && !p->over ? p : NULL;
}

void sk_col_add(sk_col *c, sk_item *item)
{
    sk_col_kind *k = &c->kinds[item->kind];
    if (!c->adapts || item->source == SK_ANY_SOURCE) {
        sk_bin_put(&c->profiling, item, &c->roomy);
        return;
    }
    if (!k->open || k->nranks != item->nranks || k->size != item->size) {
        sk_profile *p = col_profile(c, item);
        if (p || !k->last) {
            sk_bin_put(&c->profiling, item, p ? &p->room : &c->roomy);
            return;
        }
        k->open = k->last;
        k->nranks = item->nranks;
        k->size = item->size;
    }
    level_put(k->open, item);
}

/* `n` items of the profiling queue were looked at. That counts for the parameters of the item that
 * was found, which may differ from those at the other end, or else for the item's own. */
static void col_note(sk_col *c, sk_match_side side, const sk_item *item, const sk_item *found,
                     uint64_t n)
{
    sk_profile *p = found && found->more != &c->roomy ? found->more : NULL;
    if (!p)
        p = sk_profiles_get(&c->profiles, item);
    if (!p || p->over)
        return;
    if (side == SK_UNEXPECTED && item->call && sk_profile_ends(p, item, true)) {
        col_settle(c, p);
        return;
    }
    p->searches++;
    p->looked += n;
}

/* Levels are in order of age: the first that improves on `stray`, from the profiling queue, has the
 * oldest. */
static sk_item *col_find_in_levels(sk_col_kind *k, sk_match_side side, const sk_item *item,
                                   sk_item *stray, uint64_t *looked)
{
    while (k->first != k->last && k->first->room == SK_ROOMY)
        k->first = k->first->next;
    sk_item *best = stray;
    for (sk_col_level *l = k->first; l && best == stray; l = l->next) {
        if (l->room == SK_ROOMY)
            continue;
        if (item->source == SK_ANY_SOURCE)
            best = sk_bins_older(&l->live, side, item, stray, looked);
        else
            best = sk_bin_older(&l->bins[item->source % l->nbins], side, item, stray, looked);
    }
    return best;
}

sk_item *sk_col_find(sk_col *c, sk_match_side side, const sk_item *item, uint64_t *looked)
{
    sk_item *stray = NULL;
    if (c->profiling.items.head) {
        uint64_t n = 0;
        stray = sk_bin_find(&c->profiling, side, item, &n);
        *looked += n;
        if (c->running)
            col_note(c, side, item, stray, n);
    }
    sk_col_kind *k = &c->kinds[item->kind];
    return k->last ? col_find_in_levels(k, side, item, stray, looked) : stray;
}
