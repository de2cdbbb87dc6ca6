/* pnp.c: see pnp.h. First the table of partners and their selection, then the queues. */
#include "match/engine/pnp.h"

#include <stdlib.h>

enum { MIN_PARTNER_BUCKETS = 8, MIN_COUNT_BUCKETS = 16 };

struct sk_pnp_partner {
    uint32_t source;
    uint32_t level; /* of the last shared queue that may hold items of this source */
    sk_bin *bin;    /* NULL: the bucket is free */
};

struct sk_pnp_level {
    struct sk_pnp_level *made; /* the level made before this one */
    sk_pnp_shared shared;
    sk_bin bins[];
};

static uint32_t source_hash(uint32_t source)
{
    return (source * 0x9e3779b1u) >> 7;
}

static sk_pnp_partner *partner_bucket(sk_pnp_partner *buckets, uint32_t nbuckets, uint32_t source)
{
    for (uint32_t i = source_hash(source);; i++) {
        sk_pnp_partner *at = &buckets[i & (nbuckets - 1)];
        if (!at->bin || at->source == source)
            return at;
    }
}

/* The partner with this source, or NULL. There are partners. */
static const sk_pnp_partner *partner_find(const sk_pnp *p, uint32_t source)
{
    const sk_pnp_partner *at = partner_bucket(p->partners, p->nbuckets, source);
    return at->bin ? at : NULL;
}

/* Grows the table so that at most half of its buckets are taken. */
static bool partners_reserve(sk_pnp *p, uint32_t more)
{
    uint32_t n = p->nbuckets ? p->nbuckets : MIN_PARTNER_BUCKETS;
    while (n / 2 < p->nqueues + more)
        n *= 2;
    if (n == p->nbuckets)
        return true;
    sk_pnp_partner *buckets = calloc(n, sizeof *buckets);
    if (!buckets)
        return false;
    for (uint32_t i = 0; i < p->nbuckets; i++)
        if (p->partners[i].bin)
            *partner_bucket(buckets, n, p->partners[i].source) = p->partners[i];
    free(p->partners);
    p->bytes += (n - p->nbuckets) * sizeof *buckets;
    p->partners = buckets;
    p->nbuckets = n;
    return true;
}

/* How many items each source has in the open queue. */
typedef struct source_count {
    uint32_t source, items;
} source_count;

typedef struct source_histogram {
    source_count *counts; /* hash table with open addressing; items 0: free */
    uint32_t nbuckets, sources;
    uint64_t items;
} source_histogram;

static source_count *histogram_bucket(const source_histogram *h, uint32_t source)
{
    for (uint32_t i = source_hash(source);; i++) {
        source_count *at = &h->counts[i & (h->nbuckets - 1)];
        if (!at->items || at->source == source)
            return at;
    }
}

/* False: out of memory. */
static bool histogram_fill(source_histogram *h, const sk_pnp *p)
{
    *h = (source_histogram){.nbuckets = MIN_COUNT_BUCKETS};
    while (h->nbuckets / 2 < p->limit && h->nbuckets <= UINT32_MAX / 2)
        h->nbuckets *= 2;
    h->counts = calloc(h->nbuckets, sizeof *h->counts);
    if (!h->counts)
        return false;
    for (const sk_match_item *i = p->open->bin.items.head; i; i = i->next) {
        if (i->source == SK_ANY_SOURCE)
            continue;
        source_count *s = histogram_bucket(h, i->source);
        h->sources += s->items == 0;
        s->source = i->source;
        s->items++;
        h->items++;
    }
    return true;
}

static bool above_average(const source_histogram *h, const source_count *s)
{
    return (uint64_t)s->items * h->sources > h->items;
}

static sk_pnp_level *level_new(sk_pnp *p, uint32_t nbins)
{
    size_t bytes = sizeof(sk_pnp_level) + nbins * sizeof(sk_bin);
    sk_pnp_level *l = calloc(1, bytes);
    if (!l)
        return NULL;
    for (uint32_t i = 0; i < nbins; i++)
        sk_bin_register(&l->bins[i], p->all);
    sk_bin_register(&l->shared.bin, p->all);
    l->shared.level = p->open->level + 1;
    l->made = p->levels;
    p->levels = l;
    p->bytes += bytes;
    return l;
}

/* From now on, the items of non-partners go to this level. */
static void level_open(sk_pnp *p, sk_pnp_level *l)
{
    p->limit = p->left ? p->theta : SK_QUOTA_MAX;
    l->shared.quota = p->limit;
    p->open->next = &l->shared;
    p->open = &l->shared;
}

/* Makes partners of the busy sources of the open queue, and a new level. False: there are no busy
 * sources, or no memory. */
static bool pnp_extract_partners(sk_pnp *p)
{
    source_histogram h;
    uint32_t n = 0;
    sk_pnp_level *l = NULL;
    if (!p->left || !histogram_fill(&h, p))
        return false;
    for (uint32_t i = 0; i < h.nbuckets && n < p->left; i++)
        n += above_average(&h, &h.counts[i]);
    if (n && partners_reserve(p, n))
        l = level_new(p, n);
    if (l) {
        for (uint32_t i = 0, made = 0; made < n; i++) {
            const source_count *s = &h.counts[i];
            if (above_average(&h, s))
                *partner_bucket(p->partners, p->nbuckets, s->source) =
                    (sk_pnp_partner){s->source, p->open->level, &l->bins[made++]};
        }
        p->left -= n;
        p->nqueues += n;
        level_open(p, l);
    }
    free(h.counts);
    return l != NULL;
}

void sk_pnp_init(sk_pnp *p, uint32_t theta, uint32_t budget, sk_bin **all)
{
    *p = (sk_pnp){.theta = theta, .left = budget, .no_limit = SK_QUOTA_MAX, .all = all};
    p->limit = p->base.quota = budget ? theta : SK_QUOTA_MAX;
    p->first = p->open = &p->base;
    sk_bin_register(&p->base.bin, all);
    sk_bin_register(&p->any, all);
}

void sk_pnp_destroy(sk_pnp *p)
{
    while (p->levels) {
        sk_pnp_level *l = p->levels;
        p->levels = l->made;
        free(l);
    }
    free(p->partners);
}

/* The open queue has reached its limit. If no source is above the average, the limit doubles,
 * because the selection of partners reads the whole queue. */
static __attribute__((noinline, cold)) void pnp_limit_reached(sk_pnp *p)
{
    if (pnp_extract_partners(p))
        return;
    uint32_t more = p->limit < SK_QUOTA_MAX / 2 ? p->limit : SK_QUOTA_MAX - p->limit;
    p->limit += more;
    p->open->quota += more;
}

static void pnp_add_shared(sk_pnp *p, sk_match_item *item)
{
    sk_pnp_shared *s = p->open;
    if (!s->bin.items.head && p->left)
        p->limit = s->quota = p->theta; /* an empty queue starts with the first limit again */
    sk_bin_add(&s->bin, item, &s->quota);
    if (s->quota == 0)
        pnp_limit_reached(p);
}

void sk_pnp_add(sk_pnp *p, sk_match_item *item)
{
    const sk_pnp_partner *partner = p->levels ? partner_find(p, item->source) : NULL;
    if (partner) {
        sk_bin_activate(partner->bin, &p->active);
        sk_bin_add(partner->bin, item, &p->no_limit);
    } else if (p->levels && item->source == SK_ANY_SOURCE) {
        sk_bin_add(&p->any, item, &p->no_limit);
    } else {
        pnp_add_shared(p, item);
    }
}

/* The first shared queue from `s` on that is not empty, or the open one. */
static sk_pnp_shared *shared_skip_empty(const sk_pnp *p, sk_pnp_shared *s)
{
    while (s && s != p->open && !s->bin.items.head)
        s = s->next;
    return s;
}

sk_match_item *sk_pnp_find(sk_pnp *p, sk_match_side side, const sk_match_item *item,
                           uint64_t *traversed)
{
    if (!p->levels)
        return sk_bin_find(&p->base.bin, side, item, traversed);
    const sk_pnp_partner *partner = partner_find(p, item->source);
    const uint32_t last = partner ? partner->level : UINT32_MAX;
    sk_match_item *best = NULL;
    p->first = shared_skip_empty(p, p->first);
    for (sk_pnp_shared *s = p->first; s && s->level <= last && !best; s = s->next) {
        s->next = shared_skip_empty(p, s->next);
        best = sk_bin_find(&s->bin, side, item, traversed);
    }
    if (best && best->queue == &p->base.bin)
        return best; /* older than the items of all other queues */
    if (item->source == SK_ANY_SOURCE)
        best = sk_bins_find_older(&p->active, side, item, best, traversed);
    else if (partner && !best)
        best = sk_bin_find(partner->bin, side, item, traversed);
    return sk_bin_find_older(&p->any, side, item, best, traversed);
}
