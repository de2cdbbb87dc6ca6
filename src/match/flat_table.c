/* flat_table.c: see flat_table.h. */
#include "match/flat_table.h"

#include <stdlib.h>

enum {
    MIN_SLOTS = 64,
    MAX_BITS = 31,
    GROWTH = 4,        /* times the slots it had */
    STEP = 128,        /* slots moved by one operation */
    KEEP_SLOTS = 4096, /* a table of up to this size is never given back, */
    KEEP_TIMES = 64,   /* a larger one when it has been empty so often and did not grow */
};

/* In a slot of an old table: its ring is in the new one, or nowhere. */
static const sk_link gone;
#define GONE ((sk_link *)&gone)

#define RARE __attribute__((noinline, cold))

static size_t slots_count(const flat_slots *s)
{
    return s->at ? (size_t)s->mask + 1 : 0;
}

static inline void slots_put(const flat_slots *s, sk_link *first, uint32_t hash)
{
    uint32_t i = hash >> s->shift;
    while (s->at[i].first)
        i = (i + 1) & s->mask;
    s->at[i] = (flat_slot){.first = first, .hash = hash};
}

/* The slot of a ring by its oldest link; NULL: it is in the other table. */
static inline flat_slot *slots_of(const flat_slots *s, const sk_link *first)
{
    for (uint32_t i = first->hash >> s->shift; s->at[i].first; i = (i + 1) & s->mask)
        if (s->at[i].first == first)
            return &s->at[i];
    return NULL;
}

static sk_link *slots_find(const flat_slots *s, const flat_class *c, uint32_t hash,
                           const sk_item *item, uint64_t *looked)
{
    for (uint32_t i = hash >> s->shift; s->at[i].first; i = (i + 1) & s->mask) {
        sk_link *first = s->at[i].first;
        if (s->at[i].hash != hash || first == GONE)
            continue;
        ++*looked;
        if (flat_equal(c, first->item, item))
            return first;
    }
    return NULL;
}

sk_link *flat_table_find(const flat_table *t, const sk_item *item, uint64_t *looked)
{
    if (t->keys == 0)
        return NULL;
    uint32_t hash = flat_hash(t, item);
    sk_link *first = slots_find(&t->now, &t->class, hash, item, looked);
    if (!first && t->old.at)
        first = slots_find(&t->old, &t->class, hash, item, looked);
    return first;
}

static void table_move(flat_table *t, size_t steps)
{
    const flat_slots now = t->now;
    size_t end = slots_count(&t->old);
    if (steps < end - t->moved)
        end = t->moved + steps;
    for (flat_slot *slot = t->old.at + t->moved; slot < t->old.at + end; slot++) {
        if (!slot->first)
            continue;
        if (slot->first != GONE)
            slots_put(&now, slot->first, slot->hash);
        slot->first = GONE;
    }
    t->moved = end;
    if (end == slots_count(&t->old)) {
        free(t->old.at);
        t->old = (flat_slots){0};
        t->limit = slots_count(&t->now) / 2;
    }
}

/* Room for one more ring. Without memory the table goes on until it is nearly full. */
static bool table_grow(flat_table *t)
{
    size_t had = slots_count(&t->now), want = had ? GROWTH * had : MIN_SLOTS;
    if (t->keys < had / 2)
        return true;
    if (t->old.at)
        table_move(t, slots_count(&t->old));
    flat_slot *at = want <= (size_t)1 << MAX_BITS ? calloc(want, sizeof *at) : NULL;
    if (!at)
        return t->keys < had / 8 * 7;
    t->old = t->now;
    t->now = (flat_slots){.at = at, .mask = (uint32_t)(want - 1), .shift = 32};
    for (size_t n = want; n > 1; n /= 2)
        t->now.shift--;
    t->limit = had ? 0 : want / 2;
    t->moved = 0;
    t->emptied = 0;
    return true;
}

RARE static bool table_add_growing(flat_table *t, sk_link *link, const sk_item *item)
{
    uint64_t looked = 0;
    link->hash = flat_hash(t, item);
    if (t->old.at)
        table_move(t, STEP);
    sk_link *first = flat_table_find(t, item, &looked);
    if (first) {
        flat_ring_add(first, link);
        return true;
    }
    if (!table_grow(t))
        return false;
    slots_put(&t->now, link, link->hash);
    link->next = link->prev = link;
    t->keys++;
    return true;
}

bool flat_table_add(flat_table *t, sk_link *link, const sk_item *item)
{
    if (t->keys >= t->limit)
        return table_add_growing(t, link, item);
    flat_table_put(t, link, item);
    return true;
}

/* A large table that was empty often and never needed more goes back to nothing. */
RARE static void table_emptied(flat_table *t)
{
    if (slots_count(&t->now) > KEEP_SLOTS && ++t->emptied > KEEP_TIMES)
        flat_table_drop(t);
}

/* Remove one of several with equal keys: only the oldest stands in a slot. */
static void ring_remove(flat_table *t, sk_link *link)
{
    bool oldest =
        link->prev->item->age > link->item->age; /* the youngest comes before the oldest */
    link->prev->next = link->next;
    link->next->prev = link->prev;
    if (!oldest)
        return;
    flat_slot *slot = slots_of(&t->now, link);
    if (!slot)
        slot = slots_of(&t->old, link);
    slot->first = link->next;
}

RARE static void table_remove_growing(flat_table *t, sk_link *link)
{
    flat_slot *slot = slots_of(&t->now, link);
    if (slot)
        flat_slots_clear(&t->now, slot);
    else
        slots_of(&t->old, link)->first = GONE;
    table_move(t, STEP);
}

void flat_table_remove(flat_table *t, sk_link *link)
{
    if (link->next != link) {
        ring_remove(t, link);
        return;
    }
    if (t->old.at)
        table_remove_growing(t, link);
    else
        flat_slots_clear(&t->now, slots_of(&t->now, link));
    if (--t->keys == 0)
        table_emptied(t);
}

void flat_table_init(flat_table *t, const flat_class *c)
{
    t->class = *c;
    t->salt[0] = UINT64_C(0x9e3779b97f4a7c15);
    t->salt[1] = UINT64_C(0xd6e8feb86659fd93);
}

void flat_table_drop(flat_table *t)
{
    flat_class c = t->class;
    free(t->now.at);
    free(t->old.at);
    *t = (flat_table){0};
    flat_table_init(t, &c);
}

size_t flat_table_bytes(const flat_table *t)
{
    return (slots_count(&t->now) + slots_count(&t->old)) * sizeof(flat_slot);
}
