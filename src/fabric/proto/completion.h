/* completion.h: the ring of completions below a libfabric completion queue (api/cq.c).
 *
 * Successes and errors stand in one ring, in the order in which they happened. An operation starts
 * only after it has reserved an entry, so a completion always finds space. The ring restarts at its
 * beginning when it is empty, so that a short queue stays in the cache. */
#ifndef SK_COMPLETION_H
#define SK_COMPLETION_H

#include <rdma/fi_eq.h>
#include <stdbool.h>

#include "base/assert.h"
#include "base/attr.h"
#include "fabric/proto/pool.h"

typedef struct sk_completion {
    struct fi_cq_tagged_entry e;
    fi_addr_t from;
    struct fi_cq_err_entry *err; /* NULL: no error */
} sk_completion;

typedef struct sk_completion_ring {
    sk_completion *entry;
    size_t size, head, count; /* size is a power of two */
    size_t reserved;          /* entries in the ring, and those that operations have reserved */
    sk_object_pool errors;    /* struct fi_cq_err_entry */
} sk_completion_ring;

bool sk_completion_ring_init(sk_completion_ring *r); /* false: out of memory */
void sk_completion_ring_free(sk_completion_ring *r);
bool sk_completion_grow(sk_completion_ring *r);

/* Reserve an entry for an operation that starts. False: out of memory. */
static inline bool sk_completion_reserve(sk_completion_ring *r)
{
    if (SK_UNLIKELY(r->reserved == r->size) && !sk_completion_grow(r))
        return false;
    r->reserved++;
    return true;
}

/* The operation ends without a completion. */
static inline void sk_completion_unreserve(sk_completion_ring *r)
{
    SK_ASSERT(r->reserved > r->count);
    r->reserved--;
}

/* Append an entry that was reserved; the caller fills it in. */
static inline sk_completion *sk_completion_push(sk_completion_ring *r)
{
    SK_ASSERT(r->count < r->reserved);
    return &r->entry[(r->head + r->count++) & (r->size - 1)];
}

/* Append an error for an entry that was reserved. */
void sk_completion_push_error(sk_completion_ring *r, const struct fi_cq_err_entry *err);

/* Remove the oldest entry. */
static inline void sk_completion_pop(sk_completion_ring *r)
{
    SK_ASSERT(r->count > 0);
    r->reserved--;
    r->head = --r->count ? (r->head + 1) & (r->size - 1) : 0;
}

#endif
