#include "fabric/proto/completion.h"

#include <stdlib.h>

#include "fabric/proto/log.h"

enum { FIRST_SIZE = 256 };

bool sk_completion_ring_init(sk_completion_ring *r)
{
    *r = (sk_completion_ring){.entry = malloc(FIRST_SIZE * sizeof *r->entry), .size = FIRST_SIZE};
    sk_object_pool_init(&r->errors, sizeof(struct fi_cq_err_entry));
    return r->entry != NULL;
}

void sk_completion_ring_free(sk_completion_ring *r)
{
    sk_object_pool_free(&r->errors);
    free(r->entry);
    r->entry = NULL;
}

bool sk_completion_grow(sk_completion_ring *r)
{
    sk_completion *entry = malloc(2 * r->size * sizeof *entry);
    if (!entry)
        return false;
    for (size_t i = 0; i < r->count; i++)
        entry[i] = r->entry[(r->head + i) & (r->size - 1)];
    free(r->entry);
    r->entry = entry;
    r->size *= 2;
    r->head = 0;
    return true;
}

void sk_completion_push_error(sk_completion_ring *r, const struct fi_cq_err_entry *err)
{
    struct fi_cq_err_entry *kept = sk_object_pool_get(&r->errors);
    if (!kept) {
        FI_WARN(&sk_provider, FI_LOG_CQ, "out of memory: an error is lost (%s)\n",
                fi_strerror(err->err));
        sk_completion_unreserve(r);
        return;
    }
    *kept = *err;
    sk_completion_push(r)->err = kept;
}
