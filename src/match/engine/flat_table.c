/* flat_table.c: see flat_table.h. */
#include "match/engine/flat_table.h"

#include <stdlib.h>

enum {
    MIN_BUCKETS = 64,
    MAX_BITS = 31,
    GROWTH = 4,          /* factor */
    MOVE_STEP = 128,     /* buckets moved by one operation */
    KEEP_BUCKETS = 4096, /* a table up to this size is never freed; a larger one is freed */
    KEEP_TIMES = 64,     /* when it became empty more often than this without growing */
    POOL_CHUNK = 256,    /* links */
    POOL_KEEP = 16,      /* chunks that an unused pool may keep */
};

/* Marks a bucket of an old array whose ring has been moved or removed. */
static const sk_match_link gone;
#define GONE ((sk_match_link *)&gone)

#define COLD __attribute__((noinline, cold))

static size_t array_size(const sk_flat_array *a)
{
    return a->at ? (size_t)a->last + 1 : 0;
}

static inline void array_put(const sk_flat_array *a, sk_match_link *first, uint32_t hash)
{
    uint32_t i = hash >> a->shift;
    while (a->at[i].first)
        i = (i + 1) & a->last;
    a->at[i] = (sk_flat_bucket){.first = first, .hash = hash};
}

/* The bucket of a ring, by its oldest link; NULL: the ring is in the other array. */
static inline sk_flat_bucket *array_bucket_of(const sk_flat_array *a, const sk_match_link *first)
{
    for (uint32_t i = first->hash >> a->shift; a->at[i].first; i = (i + 1) & a->last)
        if (a->at[i].first == first)
            return &a->at[i];
    return NULL;
}

static sk_match_link *array_find(const sk_flat_array *a, const sk_flat_mask *m, uint32_t hash,
                                 const sk_match_item *item, uint64_t *traversed)
{
    for (uint32_t i = hash >> a->shift; a->at[i].first; i = (i + 1) & a->last) {
        sk_match_link *first = a->at[i].first;
        if (a->at[i].hash != hash || first == GONE)
            continue;
        ++*traversed;
        if (sk_flat_key_equal(m, first->item, item))
            return first;
    }
    return NULL;
}

sk_match_link *sk_flat_table_find(const sk_flat_table *t, const sk_match_item *item,
                                  uint64_t *traversed)
{
    if (t->nrings == 0)
        return NULL;
    uint32_t hash = sk_flat_hash(t, item);
    sk_match_link *first = array_find(&t->now, &t->mask, hash, item, traversed);
    if (!first && t->old.at)
        first = array_find(&t->old, &t->mask, hash, item, traversed);
    return first;
}

static void table_move(sk_flat_table *t, size_t steps)
{
    const sk_flat_array now = t->now;
    size_t end = array_size(&t->old);
    if (steps < end - t->moved)
        end = t->moved + steps;
    for (sk_flat_bucket *b = t->old.at + t->moved; b < t->old.at + end; b++) {
        if (!b->first)
            continue;
        if (b->first != GONE)
            array_put(&now, b->first, b->hash);
        b->first = GONE;
    }
    t->moved = end;
    if (end == array_size(&t->old)) {
        free(t->old.at);
        t->old = (sk_flat_array){0};
        t->limit = array_size(&t->now) / 2;
    }
}

/* Makes space for one more ring. Without memory, the table is used until it is nearly full. */
static bool table_grow(sk_flat_table *t)
{
    size_t had = array_size(&t->now), want = had ? GROWTH * had : MIN_BUCKETS;
    if (t->nrings < had / 2)
        return true;
    if (t->old.at)
        table_move(t, array_size(&t->old));
    sk_flat_bucket *at = want <= (size_t)1 << MAX_BITS ? calloc(want, sizeof *at) : NULL;
    if (!at)
        return t->nrings < had / 8 * 7;
    t->old = t->now;
    t->now = (sk_flat_array){.at = at, .last = (uint32_t)(want - 1), .shift = 32};
    for (size_t n = want; n > 1; n /= 2)
        t->now.shift--;
    t->limit = had ? 0 : want / 2;
    t->moved = 0;
    t->emptied = 0;
    return true;
}

COLD static bool table_add_growing(sk_flat_table *t, sk_match_link *link, const sk_match_item *item)
{
    uint64_t traversed = 0;
    link->hash = sk_flat_hash(t, item);
    if (t->old.at)
        table_move(t, MOVE_STEP);
    sk_match_link *first = sk_flat_table_find(t, item, &traversed);
    if (first) {
        sk_flat_ring_append(first, link);
        return true;
    }
    if (!table_grow(t))
        return false;
    array_put(&t->now, link, link->hash);
    link->next = link->prev = link;
    t->nrings++;
    return true;
}

bool sk_flat_table_add(sk_flat_table *t, sk_match_link *link, const sk_match_item *item)
{
    if (t->nrings >= t->limit)
        return table_add_growing(t, link, item);
    sk_flat_table_put(t, link, item);
    return true;
}

/* Frees a large table that became empty often and never had to grow. */
COLD static void table_emptied(sk_flat_table *t)
{
    if (array_size(&t->now) > KEEP_BUCKETS && ++t->emptied > KEEP_TIMES)
        sk_flat_table_clear(t);
}

/* Removes one of several links with equal keys. Only the oldest is in a bucket. */
static void ring_remove(sk_flat_table *t, sk_match_link *link)
{
    /* The predecessor of the oldest link is the youngest. */
    bool oldest = link->prev->item->seq > link->item->seq;
    link->prev->next = link->next;
    link->next->prev = link->prev;
    if (!oldest)
        return;
    sk_flat_bucket *bucket = array_bucket_of(&t->now, link);
    if (!bucket)
        bucket = array_bucket_of(&t->old, link);
    bucket->first = link->next;
}

COLD static void table_remove_growing(sk_flat_table *t, sk_match_link *link)
{
    sk_flat_bucket *bucket = array_bucket_of(&t->now, link);
    if (bucket)
        sk_flat_array_clear(&t->now, bucket);
    else
        array_bucket_of(&t->old, link)->first = GONE;
    table_move(t, MOVE_STEP);
}

void sk_flat_table_remove(sk_flat_table *t, sk_match_link *link)
{
    if (link->next != link) {
        ring_remove(t, link);
        return;
    }
    if (t->old.at)
        table_remove_growing(t, link);
    else
        sk_flat_array_clear(&t->now, array_bucket_of(&t->now, link));
    if (--t->nrings == 0)
        table_emptied(t);
}

/* For an empty table, or one that is all zero. */
static void table_init(sk_flat_table *t, const sk_flat_mask *m)
{
    t->mask = *m;
    t->salt[0] = UINT64_C(0x9e3779b97f4a7c15);
    t->salt[1] = UINT64_C(0xd6e8feb86659fd93);
}

void sk_flat_table_clear(sk_flat_table *t)
{
    sk_flat_mask m = t->mask;
    free(t->now.at);
    free(t->old.at);
    *t = (sk_flat_table){0};
    table_init(t, &m);
}

size_t sk_flat_table_bytes(const sk_flat_table *t)
{
    return (array_size(&t->now) + array_size(&t->old)) * sizeof(sk_flat_bucket);
}

/* A new class, or one whose tables are empty; NULL: all are in use. The messages that the tables of
 * such a class had indexed are gone, so `indexed` holds. */
static sk_flat_class *class_new(sk_flat_classes *f, const sk_flat_mask *mask)
{
    sk_flat_class *c = NULL;
    if (f->n < SK_FLAT_MAX_CLASSES)
        c = &f->at[f->n++];
    for (uint32_t i = 0; !c && i < SK_FLAT_MAX_CLASSES; i++)
        if (f->at[i].table[SK_POSTED].nrings == 0 && f->at[i].table[SK_UNEXPECTED].nrings == 0)
            c = &f->at[i];
    if (c) {
        table_init(&c->table[SK_POSTED], mask);
        table_init(&c->table[SK_UNEXPECTED], mask);
        c->mismatches = 0;
        c->own_table = false;
    }
    return c;
}

sk_flat_class *sk_flat_class_of(sk_flat_classes *f, const sk_match_item *recv)
{
    sk_flat_mask mask = sk_flat_mask_of(recv);
    if (f->last && sk_flat_mask_equal(sk_flat_class_mask(f->last), &mask))
        return f->last;
    for (uint32_t i = 0; i < f->n; i++)
        if (sk_flat_mask_equal(sk_flat_class_mask(&f->at[i]), &mask))
            return f->last = &f->at[i];
    return f->last = class_new(f, &mask);
}

void sk_flat_class_activate(sk_flat_classes *f, sk_flat_class *c)
{
    c->next_active = f->active;
    f->active = c;
}

void sk_flat_class_deactivate(sk_flat_classes *f, const sk_flat_class *c)
{
    sk_flat_class **at = &f->active;
    while (*at != c)
        at = &(*at)->next_active;
    *at = c->next_active;
}

struct sk_flat_pool_chunk {
    struct sk_flat_pool_chunk *next;
    sk_match_link links[POOL_CHUNK];
};

static void pool_grow(sk_flat_pool *p)
{
    sk_flat_pool_chunk *c = malloc(sizeof *c);
    if (!c)
        return;
    c->next = p->chunks;
    p->chunks = c;
    p->nchunks++;
    for (int i = POOL_CHUNK - 1; i >= 0; i--) {
        c->links[i].other = p->idle;
        p->idle = &c->links[i];
    }
}

sk_match_link *sk_flat_pool_get(sk_flat_pool *p)
{
    if (!p->idle)
        pool_grow(p);
    sk_match_link *link = p->idle;
    if (link) {
        p->idle = link->other;
        p->used++;
    }
    return link;
}

void sk_flat_pool_put(sk_flat_pool *p, sk_match_link *link)
{
    link->other = p->idle;
    p->idle = link;
    if (--p->used == 0 && p->nchunks > POOL_KEEP)
        sk_flat_pool_clear(p);
}

void sk_flat_pool_clear(sk_flat_pool *p)
{
    for (sk_flat_pool_chunk *c = p->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *p = (sk_flat_pool){0};
}

size_t sk_flat_pool_bytes(const sk_flat_pool *p)
{
    return p->nchunks * sizeof(sk_flat_pool_chunk);
}
