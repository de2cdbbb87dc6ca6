/* flat_pool.h: links for items that stand in more than one index; an item itself has room for one.
 */
#ifndef SK_FLAT_POOL_H
#define SK_FLAT_POOL_H

#include "match/match.h"

typedef struct flat_chunk flat_chunk;

typedef struct flat_pool {
    sk_link *idle; /* through other */
    flat_chunk *chunks;
    size_t used, nchunks;
} flat_pool;

sk_link *flat_pool_get(flat_pool *p); /* NULL: out of memory */
void flat_pool_put(flat_pool *p, sk_link *link);
void flat_pool_drop(flat_pool *p);
size_t flat_pool_bytes(const flat_pool *p);

#endif
