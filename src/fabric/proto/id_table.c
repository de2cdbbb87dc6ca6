#include "fabric/proto/id_table.h"

#include <stdlib.h>

/* Ids are random: any of their bits serve as a hash. */
static uint32_t bucket_of(const sk_id_table *t, uint64_t id)
{
    uint32_t mask = t->nbuckets - 1, at = (uint32_t)id & mask;
    while (t->bucket[at] != SK_NO_ID && t->entry[t->bucket[at]].id != id)
        at = (at + 1) & mask;
    return at;
}

static bool buckets_grow(sk_id_table *t)
{
    uint32_t size = t->nbuckets ? 2 * t->nbuckets : 256;
    uint32_t *bucket = malloc(size * sizeof *bucket);
    if (!bucket)
        return false;
    for (uint32_t i = 0; i < size; i++)
        bucket[i] = SK_NO_ID;
    free(t->bucket);
    t->bucket = bucket;
    t->nbuckets = size;
    for (uint32_t i = 0; i < t->count; i++)
        bucket[bucket_of(t, t->entry[i].id)] = i;
    return true;
}

static bool entries_grow(sk_id_table *t)
{
    uint32_t capacity = t->capacity ? 2 * t->capacity : 128;
    sk_id_entry *entry = realloc(t->entry, capacity * sizeof *entry);
    if (!entry)
        return false;
    t->entry = entry;
    t->capacity = capacity;
    return true;
}

uint32_t sk_id_number(sk_id_table *t, uint64_t id)
{
    if (2 * (t->count + 1) > t->nbuckets && !buckets_grow(t))
        return SK_NO_ID;
    uint32_t at = bucket_of(t, id);
    if (t->bucket[at] != SK_NO_ID)
        return t->bucket[at];
    if (t->count == t->capacity && !entries_grow(t))
        return SK_NO_ID;
    t->entry[t->count] = (sk_id_entry){.id = id, .addr = FI_ADDR_NOTAVAIL};
    t->bucket[at] = t->count;
    return t->count++;
}

bool sk_id_new_addr(sk_id_table *t, fi_addr_t *out)
{
    if (t->naddrs == t->addrs_capacity) {
        size_t capacity = t->addrs_capacity ? 2 * t->addrs_capacity : 128;
        uint32_t *number = realloc(t->number, capacity * sizeof *number);
        if (!number)
            return false;
        t->number = number;
        t->addrs_capacity = capacity;
    }
    t->number[t->naddrs] = SK_NO_ID;
    *out = t->naddrs++;
    return true;
}

void sk_id_table_free(sk_id_table *t)
{
    free(t->entry);
    free(t->number);
    free(t->bucket);
    *t = (sk_id_table){0};
}
