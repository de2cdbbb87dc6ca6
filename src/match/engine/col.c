/* col.c: see col.h. First the profiles of calls, then the levels of queues. */
#include "match/engine/col.h"

#include <stdlib.h>

/* More parameters than this are not told apart: later ones use the queues of their kind. */
enum { MAX_PROFILES = 4096, MIN_BUCKETS = 16 };

/* How the first call with new parameters uses the profiling queue. */
struct sk_col_profile {
    sk_quota quota;  /* of its items in the profiling queue; first member, see col_note */
    uint32_t nranks; /* with kind and size: the parameters */
    uint32_t call;   /* the call that is measured, by the numbers of receives; 0: not known */
    uint16_t kind;
    uint8_t size;
    bool finished;
    uint64_t searches, traversed; /* searches that met items in the profiling queue; the items */
};

static uint32_t profile_hash(uint16_t kind, uint8_t size, uint32_t nranks)
{
    uint64_t key = (uint64_t)nranks << 24 | (uint32_t)kind << 8 | size;
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32);
}

/* The profile for the parameters of an item; NULL: there is none. */
static sk_col_profile *profile_find(const sk_col *c, const sk_match_item *item)
{
    if (!c->nbuckets)
        return NULL;
    for (uint32_t i = profile_hash(item->kind, item->size, item->nranks);; i++) {
        sk_col_profile *p = c->profiles[i & (c->nbuckets - 1)];
        if (!p || (p->kind == item->kind && p->size == item->size && p->nranks == item->nranks))
            return p;
    }
}

static void profile_insert(sk_col_profile **buckets, uint32_t nbuckets, sk_col_profile *p)
{
    uint32_t i = profile_hash(p->kind, p->size, p->nranks);
    while (buckets[i & (nbuckets - 1)])
        i++;
    buckets[i & (nbuckets - 1)] = p;
}

static bool profiles_grow(sk_col *c)
{
    uint32_t n = c->nbuckets ? c->nbuckets * 2 : MIN_BUCKETS;
    sk_col_profile **buckets = calloc(n, sizeof(sk_col_profile *));
    if (!buckets)
        return false;
    for (uint32_t i = 0; i < c->nbuckets; i++)
        if (c->profiles[i])
            profile_insert(buckets, n, c->profiles[i]);
    free(c->profiles);
    c->profiles = buckets;
    c->nbuckets = n;
    return true;
}

/* The profile for the parameters of an item, made if there is none; NULL: too many, or no
 * memory. */
static sk_col_profile *profile_get(sk_col *c, const sk_match_item *item)
{
    sk_col_profile *p = profile_find(c, item);
    if (p)
        return p;
    if (c->nprofiles == MAX_PROFILES || (c->nprofiles * 2 >= c->nbuckets && !profiles_grow(c)))
        return NULL;
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->quota = SK_QUOTA_MAX;
    p->kind = item->kind;
    p->size = item->size;
    p->nranks = item->nranks;
    profile_insert(c->profiles, c->nbuckets, p);
    c->nprofiles++;
    c->running++;
    return p;
}

/* An item with the parameters of the profile has come: is the measured call over? A receive with
 * another call number ends it, because receives carry the numbers of this process. A message
 * carries the number of its sender, so it ends the call only if the profiling queue holds no more
 * items of the profile; so does an item without a number. A call of which nothing was measured is
 * not over. */
static bool profile_is_over(sk_col_profile *p, const sk_match_item *item, bool receive)
{
    if (receive && (!p->searches || !p->call))
        p->call = item->call;
    bool other = item->call && item->call != p->call;
    if (!p->searches)
        return false;
    if (receive && other)
        return true;
    return (other || !item->call) && p->quota == SK_QUOTA_MAX;
}

/* The number of queues wanted: the average number of items traversed, rounded. */
static uint64_t profile_wants(const sk_col_profile *p)
{
    return (p->traversed + p->searches / 2) / p->searches;
}

struct sk_col_level {
    struct sk_col_level *next; /* of the same kind, younger */
    struct sk_col_level *made; /* the level made before this one, of any kind */
    sk_bin *active;
    sk_quota quota;
    uint32_t nbins;
    sk_bin bins[];
};

void sk_col_init(sk_col *c, uint32_t budget, sk_bin **all)
{
    *c = (sk_col){.adaptive = budget > 0, .no_limit = SK_QUOTA_MAX, .left = budget, .all = all};
    sk_bin_register(&c->profiling, all);
}

void sk_col_destroy(sk_col *c)
{
    while (c->levels) {
        sk_col_level *l = c->levels;
        c->levels = l->made;
        free(l);
    }
    for (uint32_t i = 0; i < c->nbuckets; i++)
        free(c->profiles[i]);
    free(c->profiles);
}

size_t sk_col_bytes(const sk_col *c)
{
    return c->level_bytes + c->nbuckets * sizeof(sk_col_profile *) +
           c->nprofiles * sizeof(sk_col_profile);
}

static sk_col_level *level_new(sk_col *c, uint32_t nbins)
{
    size_t bytes = sizeof(sk_col_level) + nbins * sizeof(sk_bin);
    sk_col_level *l = calloc(1, bytes);
    if (!l)
        return NULL;
    l->quota = SK_QUOTA_MAX;
    l->nbins = nbins;
    for (uint32_t i = 0; i < nbins; i++)
        sk_bin_register(&l->bins[i], c->all);
    l->made = c->levels;
    c->levels = l;
    c->left -= nbins;
    c->nqueues += nbins;
    c->level_bytes += bytes;
    return l;
}

static void level_add(sk_col_level *l, sk_match_item *item)
{
    sk_bin *b = &l->bins[item->source % l->nbins];
    sk_bin_activate(b, &l->active);
    sk_bin_add(b, item, &l->quota);
}

/* Moves the items of the profile from the profiling queue to the level. Several calls may be queued
 * before the first one ends; the paper leaves their items in the profiling queue. Only for the
 * first level of a kind: in a later one they might be older than items of the level before. */
static void level_fetch(sk_col *c, sk_col_level *l, const sk_col_profile *p)
{
    for (sk_match_item *item = c->profiling.items.head, *next; item; item = next) {
        next = item->next;
        if (item->quota == &p->quota) {
            sk_bin_remove(item);
            level_add(l, item);
        }
    }
}

/* The largest level of any kind with more than `nbins` queues. */
static sk_col_level *level_largest(const sk_col *c, uint32_t nbins)
{
    sk_col_level *best = NULL;
    for (sk_col_level *l = c->levels; l; l = l->made)
        if (l->nbins > (best ? best->nbins : nbins))
            best = l;
    return best;
}

/* The measured call is over. Makes a level for its kind if the last level has fewer queues than
 * wanted and the cap allows more. A kind that comes when the cap is reached would stay in the
 * profiling queue for ever and slow down every search there; it shares the largest level instead.
 * Its queued items stay where they are, so that the queues of that level remain sorted by age. */
static void col_finish_profile(sk_col *c, sk_col_profile *p)
{
    sk_col_kind *k = &c->kinds[p->kind];
    uint64_t wants = profile_wants(p);
    uint32_t nbins = wants < c->left ? (uint32_t)wants : c->left;
    p->finished = true;
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

/* The profile that an item counts for; NULL: its call is not the first, or cannot be measured. */
static sk_col_profile *col_profile_of(sk_col *c, const sk_match_item *item)
{
    sk_col_profile *p = profile_get(c, item);
    if (p && !p->finished && profile_is_over(p, item, item->side == SK_POSTED))
        col_finish_profile(c, p);
    return p && !p->finished ? p : NULL;
}

void sk_col_add(sk_col *c, sk_match_item *item)
{
    sk_col_kind *k = &c->kinds[item->kind];
    if (!c->adaptive || item->source == SK_ANY_SOURCE) {
        sk_bin_add(&c->profiling, item, &c->no_limit);
        return;
    }
    if (!k->open || k->nranks != item->nranks || k->size != item->size) {
        sk_col_profile *p = col_profile_of(c, item);
        if (p || !k->last) {
            sk_bin_add(&c->profiling, item, p ? &p->quota : &c->no_limit);
            return;
        }
        k->open = k->last;
        k->nranks = item->nranks;
        k->size = item->size;
    }
    level_add(k->open, item);
}

/* A search has traversed `n` items of the profiling queue. They count for the profile of the item
 * found, whose parameters may differ from those of the searching item, or else for the profile of
 * the searching item. */
static void col_note(sk_col *c, sk_match_side side, const sk_match_item *item,
                     const sk_match_item *found, uint64_t n)
{
    sk_col_profile *p = found && found->quota != &c->no_limit ? found->quota : NULL;
    if (!p)
        p = profile_find(c, item);
    if (!p || p->finished)
        return;
    if (side == SK_UNEXPECTED && item->call && profile_is_over(p, item, true)) {
        col_finish_profile(c, p);
        return;
    }
    p->searches++;
    p->traversed += n;
}

/* Levels are in order of age: the first level with an item older than `profiled`, which was found
 * in the profiling queue, has the oldest one. */
static sk_match_item *col_find_in_levels(sk_col_kind *k, sk_match_side side,
                                         const sk_match_item *item, sk_match_item *profiled,
                                         uint64_t *traversed)
{
    while (k->first != k->last && k->first->quota == SK_QUOTA_MAX)
        k->first = k->first->next;
    sk_match_item *best = profiled;
    for (sk_col_level *l = k->first; l && best == profiled; l = l->next) {
        if (l->quota == SK_QUOTA_MAX)
            continue;
        if (item->source == SK_ANY_SOURCE)
            best = sk_bins_find_older(&l->active, side, item, profiled, traversed);
        else
            best = sk_bin_find_older(&l->bins[item->source % l->nbins], side, item, profiled,
                                     traversed);
    }
    return best;
}

sk_match_item *sk_col_find(sk_col *c, sk_match_side side, const sk_match_item *item,
                           uint64_t *traversed)
{
    sk_match_item *profiled = NULL;
    if (c->profiling.items.head) {
        uint64_t n = 0;
        profiled = sk_bin_find(&c->profiling, side, item, &n);
        *traversed += n;
        if (c->running)
            col_note(c, side, item, profiled, n);
    }
    sk_col_kind *k = &c->kinds[item->kind];
    return k->last ? col_find_in_levels(k, side, item, profiled, traversed) : profiled;
}
