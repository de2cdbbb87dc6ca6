/* flat_table.h: the hash tables of the engine `flat`, and the wildcard classes that own them.
 *
 * The mask of a receive says which bits of the tag count, and whether source and kind count.
 * Receives with the same mask, and the messages they search for, have a key: what the mask leaves
 * of tag, source and kind. Items with equal keys form a circular list, the ring, oldest first. A
 * table holds the rings of one mask.
 *
 * Open addressing with linear probing, at most half full, so a search reads one or two buckets. The
 * home bucket of a ring is given by the upper bits of its hash. A full table grows incrementally:
 * each later operation moves some buckets of the old array, in about a microsecond, and until then
 * a search reads both arrays. */
#ifndef SK_FLAT_TABLE_H
#define SK_FLAT_TABLE_H

#include "match/matcher.h"

typedef struct sk_flat_mask {
    uint64_t tag;      /* bits that count */
    uint64_t wildcard; /* bits of source (lower 32) and kind (above) that do not count */
} sk_flat_mask;

typedef struct sk_flat_bucket {
    sk_match_link *first; /* the oldest of its ring; NULL: the bucket is free */
    uint32_t hash;
} sk_flat_bucket;

typedef struct sk_flat_array {
    sk_flat_bucket *at;
    uint32_t last;  /* number of buckets - 1 */
    uint32_t shift; /* hash >> shift is the home bucket */
} sk_flat_array;

typedef struct sk_flat_table {
    sk_flat_mask mask;
    uint64_t salt[2];
    sk_flat_array now, old; /* old.at: NULL unless the table is growing */
    uint64_t nrings;
    uint64_t limit;   /* rings at which it grows; 0: it is growing, or has no buckets */
    size_t moved;     /* buckets of `old` that have been moved */
    uint32_t emptied; /* times it became empty since it last grew */
} sk_flat_table;

static inline uint64_t sk_flat_source_kind(const sk_match_item *item)
{
    return item->source | (uint64_t)item->kind << 32;
}

static inline sk_flat_mask sk_flat_mask_of(const sk_match_item *recv)
{
    uint64_t source = recv->source == SK_ANY_SOURCE ? UINT32_MAX : 0;
    uint64_t kind = recv->kind == SK_ANY_KIND ? UINT16_MAX : 0;
    return (sk_flat_mask){.tag = ~recv->ignore, .wildcard = source | kind << 32};
}

static inline bool sk_flat_mask_equal(const sk_flat_mask *a, const sk_flat_mask *b)
{
    return a->tag == b->tag && a->wildcard == b->wildcard;
}

/* Whether items with equal keys under `b` have equal keys under `a`: `a` looks at fewer bits. */
static inline bool sk_flat_mask_covers(const sk_flat_mask *a, const sk_flat_mask *b)
{
    return ((a->tag & ~b->tag) | (b->wildcard & ~a->wildcard)) == 0;
}

/* Both halves of the 128-bit product mix every bit of the key into every bit of the hash, so
 * sequences and strides spread like random keys. */
static inline uint32_t sk_flat_hash(const sk_flat_table *t, const sk_match_item *item)
{
    uint64_t a = (item->tag & t->mask.tag) ^ t->salt[0];
    uint64_t b = (sk_flat_source_kind(item) | t->mask.wildcard) ^ t->salt[1];
    unsigned __int128 p = (unsigned __int128)a * b;
    return (uint32_t)(((uint64_t)(p >> 64) ^ (uint64_t)p) >> 32);
}

static inline bool sk_flat_key_equal(const sk_flat_mask *m, const sk_match_item *a,
                                     const sk_match_item *b)
{
    return (((a->tag ^ b->tag) & m->tag) |
            ((sk_flat_source_kind(a) ^ sk_flat_source_kind(b)) & ~m->wildcard)) == 0;
}

/* Whether the table holds rings and is not growing. The inline functions below are for such tables;
 * those of flat_table.c work on all tables. */
static inline bool sk_flat_table_steady(const sk_flat_table *t)
{
    return t->nrings && t->limit;
}

/* The first bucket with the hash of the item's key; NULL: there is none. It is the bucket of that
 * key but for one case in millions: the caller compares the keys. */
static inline sk_flat_bucket *sk_flat_table_lookup(const sk_flat_table *t,
                                                   const sk_match_item *item)
{
    uint32_t hash = sk_flat_hash(t, item);
    sk_flat_bucket *at = t->now.at;
    for (uint32_t i = hash >> t->now.shift; at[i].first; i = (i + 1) & t->now.last)
        if (at[i].hash == hash)
            return &at[i];
    return NULL;
}

/* Appends the youngest link to a ring. */
static inline void sk_flat_ring_append(sk_match_link *first, sk_match_link *link)
{
    link->next = first;
    link->prev = first->prev;
    link->prev->next = first->prev = link;
}

/* sk_flat_table_add for a table that needs not grow: nrings < limit. */
static inline void sk_flat_table_put(sk_flat_table *t, sk_match_link *link,
                                     const sk_match_item *item)
{
    uint32_t hash = link->hash = sk_flat_hash(t, item);
    sk_flat_bucket *at = t->now.at;
    uint32_t i = hash >> t->now.shift;
    for (; at[i].first; i = (i + 1) & t->now.last)
        if (at[i].hash == hash && sk_flat_key_equal(&t->mask, at[i].first->item, item)) {
            sk_flat_ring_append(at[i].first, link);
            return;
        }
    at[i] = (sk_flat_bucket){.first = link, .hash = hash};
    link->next = link->prev = link;
    t->nrings++;
}

/* Empties a bucket and moves later buckets of the probe sequence back, closer to their homes. */
static inline void sk_flat_array_clear(const sk_flat_array *a, sk_flat_bucket *bucket)
{
    sk_flat_bucket *at = a->at;
    uint32_t hole = (uint32_t)(bucket - at);
    for (uint32_t i = (hole + 1) & a->last; at[i].first; i = (i + 1) & a->last) {
        uint32_t home = at[i].hash >> a->shift;
        if (((i - home) & a->last) >= ((i - hole) & a->last)) {
            at[hole] = at[i];
            hole = i;
        }
    }
    at[hole].first = NULL;
}

/* Removes the oldest link of a bucket. The table holds other rings. */
static inline void sk_flat_table_pop(sk_flat_table *t, sk_flat_bucket *bucket)
{
    sk_match_link *link = bucket->first, *next = link->next;
    if (next != link) {
        next->prev = link->prev;
        bucket->first = link->prev->next = next;
        return;
    }
    t->nrings--;
    sk_flat_array_clear(&t->now, bucket);
}

/* The oldest link whose key is the item's; NULL: none. */
sk_match_link *sk_flat_table_find(const sk_flat_table *t, const sk_match_item *item,
                                  uint64_t *traversed);
/* Adds the link of an item that is younger than all others. False: out of memory. */
bool sk_flat_table_add(sk_flat_table *t, sk_match_link *link, const sk_match_item *item);
void sk_flat_table_remove(sk_flat_table *t, sk_match_link *link);
void sk_flat_table_clear(sk_flat_table *t); /* frees its memory; the table is empty then */
size_t sk_flat_table_bytes(const sk_flat_table *t);

/* A wildcard class: the receives with one mask. It has a table for its receives and one over the
 * messages that they search. */
typedef struct sk_flat_class {
    sk_flat_table table[SK_NSIDES];
    uint64_t indexed;    /* messages with a smaller sequence number are in the table; others not */
    uint64_t scanned;    /* messages that searches compared since the table was up to date */
    uint32_t mismatches; /* recent ones, compared in the table of another class */
    bool own_table;      /* the class needs a table of its own for messages */
    struct sk_flat_class *next_active;
} sk_flat_class;

/* Their number is bounded because a message searches all classes that have receives. */
enum { SK_FLAT_MAX_CLASSES = 16 };

typedef struct sk_flat_classes {
    sk_flat_class *active; /* classes with receives */
    sk_flat_class *last;   /* class of the last receive; NULL: it had none */
    uint32_t n;
    sk_flat_class at[SK_FLAT_MAX_CLASSES];
} sk_flat_classes;

static inline const sk_flat_mask *sk_flat_class_mask(const sk_flat_class *c)
{
    return &c->table[SK_POSTED].mask;
}

/* The class of a receive, made if there is none. NULL: all are in use. */
sk_flat_class *sk_flat_class_of(sk_flat_classes *f, const sk_match_item *recv);
void sk_flat_class_activate(sk_flat_classes *f, sk_flat_class *c); /* has its first receive */
void sk_flat_class_deactivate(sk_flat_classes *f, const sk_flat_class *c); /* has none any more */

/* A pool of links for items that are in more than one table. An item itself holds one link. */
typedef struct sk_flat_pool_chunk sk_flat_pool_chunk;

typedef struct sk_flat_pool {
    sk_match_link *idle; /* linked through `other` */
    sk_flat_pool_chunk *chunks;
    size_t used, nchunks;
} sk_flat_pool;

sk_match_link *sk_flat_pool_get(sk_flat_pool *p); /* NULL: out of memory */
void sk_flat_pool_put(sk_flat_pool *p, sk_match_link *link);
void sk_flat_pool_clear(sk_flat_pool *p);
size_t sk_flat_pool_bytes(const sk_flat_pool *p);

#endif
