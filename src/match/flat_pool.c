/* flat_pool.c: see flat_pool.h. */
#include "match/flat_pool.h"

#include <stdlib.h>

enum { CHUNK = 256, KEEP_CHUNKS = 16 };

struct flat_chunk {
    struct flat_chunk *next;
    sk_link links[CHUNK];
};

static void pool_grow(flat_pool *p)
{
    flat_chunk *c = malloc(sizeof *c);
    if (!c)
        return;
    c->next = p->chunks;
    p->chunks = c;
    p->nchunks++;
    for (int i = CHUNK - 1; i >= 0; i--) {
        c->links[i].other = p->idle;
        p->idle = &c->links[i];
    }
}

sk_link *flat_pool_get(flat_pool *p)
{
    if (!p->idle)
        pool_grow(p);
    sk_link *link = p->idle;
    if (link) {
        p->idle = link->other;
        p->used++;
    }
    return link;
}

void flat_pool_put(flat_pool *p, sk_link *link)
{
    link->other = p->idle;
    p->idle = link;
    if (--p->used == 0 && p->nchunks > KEEP_CHUNKS)
        flat_pool_drop(p);
}

void flat_pool_drop(flat_pool *p)
{
    for (flat_chunk *c = p->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *p = (flat_pool){0};
}

size_t flat_pool_bytes(const flat_pool *p)
{
    return p->nchunks * sizeof(flat_chunk);
}
