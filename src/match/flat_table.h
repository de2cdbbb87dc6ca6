/* flat_table.h: a hash table over the items of one class, and what a class is.
 *
 * A class is a way to look: which bits of the tag count, and whether source and kind do. All
 * receives of a class look the same way, so they, and the messages they look for, have a key: what
 * is left of tag, source and kind. Items of equal key form a ring, oldest first; the table holds
 * the rings.
 *
 * Open addressing, at most half full, so a search looks at one or two slots. A slot's place is the
 * upper bits of its hash. A full table grows in steps: each later operation moves some slots of the
 * old one, in about a microsecond, and a search looks in both. */
#ifndef SK_FLAT_TABLE_H
#define SK_FLAT_TABLE_H

#include "match/match.h"

typedef struct flat_class {
    uint64_t tag; /* bits that count */
    uint64_t any; /* bits set: of source (lower 32) and kind (upper) that do not count */
} flat_class;

typedef struct flat_slot {
    sk_link *first; /* the oldest of its ring; NULL: no ring */
    uint32_t hash;
} flat_slot;

typedef struct flat_slots {
    flat_slot *at;
    uint32_t mask;  /* number of slots - 1 */
    uint32_t shift; /* hash >> shift is the place */
} flat_slots;

typedef struct flat_table {
    flat_class class;
    uint64_t salt[2];
    flat_slots now, old; /* old.at: NULL unless the table is growing */
    uint64_t keys;       /* rings */
    uint64_t limit;      /* rings that make it grow; 0: it is growing, or has no slots */
    size_t moved;        /* slots of `old` that are done */
    uint32_t emptied;    /* times, since it has grown */
} flat_table;

static inline uint64_t flat_who(const sk_item *item)
{
    return item->source | (uint64_t)item->kind << 32;
}

static inline flat_class flat_class_of(const sk_item *recv)
{
    uint64_t source = recv->source == SK_ANY_SOURCE ? UINT32_MAX : 0;
    uint64_t kind = recv->kind == SK_ANY_KIND ? UINT16_MAX : 0;
    return (flat_class){.tag = ~recv->ignore, .any = source | kind << 32};
}

static inline bool flat_class_equal(const flat_class *a, const flat_class *b)
{
    return a->tag == b->tag && a->any == b->any;
}

/* Whether items with equal keys in `b` have equal keys in `a`. */
static inline bool flat_class_covers(const flat_class *a, const flat_class *b)
{
    return ((a->tag & ~b->tag) | (b->any & ~a->any)) == 0;
}

/* Both halves of a long product mix every bit of the key into every bit of the hash, so sequences
 * and strides spread like random keys. */
static inline uint32_t flat_hash(const flat_table *t, const sk_item *item)
{
    uint64_t a = (item->tag & t->class.tag) ^ t->salt[0];
    uint64_t b = (flat_who(item) | t->class.any) ^ t->salt[1];
    unsigned __int128 p = (unsigned __int128)a * b;
    return (uint32_t)(((uint64_t)(p >> 64) ^ (uint64_t)p) >> 32);
}

static inline bool flat_equal(const flat_class *c, const sk_item *a, const sk_item *b)
{
    return (((a->tag ^ b->tag) & c->tag) | ((flat_who(a) ^ flat_who(b)) & ~c->any)) == 0;
}

/* Whether the table is in its usual state: it holds rings, and is not growing. What follows in line
 * is for such tables; flat_table.c has the same for all. */
static inline bool flat_table_steady(const flat_table *t)
{
    return t->keys && t->limit;
}

/* The first slot with the hash of the item's key, which is that of the key but for one case in
 * millions; NULL: none has it. */
static inline flat_slot *flat_table_guess(const flat_table *t, const sk_item *item)
{
    uint32_t hash = flat_hash(t, item);
    flat_slot *at = t->now.at;
    for (uint32_t i = hash >> t->now.shift; at[i].first; i = (i + 1) & t->now.mask)
        if (at[i].hash == hash)
            return &at[i];
    return NULL;
}

/* Link the youngest at the end of a ring. */
static inline void flat_ring_add(sk_link *first, sk_link *link)
{
    link->next = first;
    link->prev = first->prev;
    link->prev->next = first->prev = link;
}

/* flat_table_add, where there is room. */
static inline void flat_table_put(flat_table *t, sk_link *link, const sk_item *item)
{
    uint32_t hash = link->hash = flat_hash(t, item);
    flat_slot *at = t->now.at;
    uint32_t i = hash >> t->now.shift;
    for (; at[i].first; i = (i + 1) & t->now.mask)
        if (at[i].hash == hash && flat_equal(&t->class, at[i].first->item, item)) {
            flat_ring_add(at[i].first, link);
            return;
        }
    at[i] = (flat_slot){.first = link, .hash = hash};
    link->next = link->prev = link;
    t->keys++;
}

/* Empty a slot and pull back those behind it that it kept from their place. */
static inline void flat_slots_clear(const flat_slots *s, flat_slot *slot)
{
    flat_slot *at = s->at;
    uint32_t hole = (uint32_t)(slot - at);
    for (uint32_t i = (hole + 1) & s->mask; at[i].first; i = (i + 1) & s->mask) {
        uint32_t place = at[i].hash >> s->shift;
        if (((i - place) & s->mask) >= ((i - hole) & s->mask)) {
            at[hole] = at[i];
            hole = i;
        }
    }
    at[hole].first = NULL;
}

/* Remove the oldest link of a slot, where there are other rings. */
static inline void flat_table_pop(flat_table *t, flat_slot *slot)
{
    sk_link *link = slot->first, *next = link->next;
    if (next != link) {
        next->prev = link->prev;
        slot->first = link->prev->next = next;
        return;
    }
    t->keys--;
    flat_slots_clear(&t->now, slot);
}

void flat_table_init(flat_table *t, const flat_class *c); /* an empty one, or one of all zero */
/* The oldest link whose key is the item's; NULL: none. */
sk_link *flat_table_find(const flat_table *t, const sk_item *item, uint64_t *looked);
/* Add the link of an item that is younger than all others. False: out of memory. */
bool flat_table_add(flat_table *t, sk_link *link, const sk_item *item);
void flat_table_remove(flat_table *t, sk_link *link);
void flat_table_drop(flat_table *t); /* its memory; it is empty then */
size_t flat_table_bytes(const flat_table *t);

#endif
