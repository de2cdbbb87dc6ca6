#include "price/channels.h"

#include <stdlib.h>
#include <string.h>

static sk_walk_channel *find(sk_walk_channel *table, uint32_t cap, uint64_t key)
{
    uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(h >> 32) & (cap - 1);
    while (table[i].key && table[i].key != key)
        i = (i + 1) & (cap - 1);
    return &table[i];
}

static bool grow_table(sk_channels *x)
{
    if (2 * x->n < x->cap)
        return true;
    uint32_t cap = x->cap ? 2 * x->cap : 256;
    sk_walk_channel *table = calloc(cap, sizeof *table);
    if (!table)
        return false;
    for (uint32_t i = 0; i < x->cap; i++)
        if (x->table[i].key)
            *find(table, cap, x->table[i].key) = x->table[i];
    free(x->table);
    x->table = table;
    x->cap = cap;
    return true;
}

static int new_transfer(sk_channels *x, const sk_walk_transfer *t)
{
    int i = x->unused - 1; /* 0: none is unused */
    if (i >= 0) {
        x->unused = x->pool[i].next;
    } else {
        if (x->npool == x->pool_cap) {
            int cap = x->pool_cap ? 2 * x->pool_cap : 256;
            sk_walk_transfer *pool = realloc(x->pool, (size_t)cap * sizeof *pool);
            if (!pool)
                return SK_NO_TRANSFER;
            x->pool = pool;
            x->pool_cap = cap;
        }
        i = x->npool++;
    }
    x->pool[i] = *t;
    x->pool[i].next = x->pool[i].match = SK_NO_TRANSFER;
    return i;
}

void sk_channels_drop(sk_channels *x, int transfer)
{
    x->pool[transfer].act = NULL;
    x->pool[transfer].next = x->unused;
    x->unused = transfer + 1;
}

int sk_channels_add(sk_channels *x, uint64_t key, const sk_walk_transfer *t)
{
    if (!grow_table(x))
        return SK_NO_TRANSFER;
    int i = new_transfer(x, t);
    if (i == SK_NO_TRANSFER)
        return i;
    sk_walk_channel *ch = find(x->table, x->cap, key);
    if (!ch->key) {
        *ch = (sk_walk_channel){key, SK_NO_TRANSFER, SK_NO_TRANSFER};
        x->n++;
    }
    if (ch->head == SK_NO_TRANSFER) {
        ch->head = ch->tail = i;
    } else if (x->pool[ch->head].act->kind == t->act->kind) {
        x->pool[ch->tail].next = i;
        ch->tail = i;
    } else {
        int other = ch->head;
        ch->head = x->pool[other].next;
        x->pool[other].match = i;
        x->pool[i].match = other;
    }
    return i;
}

void sk_channels_free(sk_channels *x)
{
    free(x->table);
    free(x->pool);
    *x = (sk_channels){0};
}
