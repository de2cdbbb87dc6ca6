/* node_memory.h: the memory that the ranks of a job share on a node: one segment, mapped by all of
 * them once, at the start. Communicators take regions of it, without any message: the first local rank of
 * a communicator, its leader, allocates a region and publishes it, the others attach to it. The
 * memory is sparse: pages exist from their first use on. A free region is kept as it is for the next
 * communicator of the same ranks, as long as there is space for others. */
#ifndef SK_NODE_MEMORY_H
#define SK_NODE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sk_node_memory sk_node_memory; /* of one process */

/* Bytes of a segment for n local ranks whose communicators have at most `cap` bytes each. */
size_t sk_node_memory_bytes(int n, int64_t cap);

/* Over a segment of this size that is zero at first, as local rank `me` of n. Takes over the mapping.
 * NULL: out of memory. */
sk_node_memory *sk_node_memory_new(void *mem, size_t bytes, int n, int me);
void sk_node_memory_free(sk_node_memory *m); /* unmaps */

/* Make the pages that the first communicators of n local ranks use first, so that they do not fault in their
 * calls. `cap` as above. */
void sk_node_memory_populate(sk_node_memory *m, int n, int64_t cap);

/* A part of the memory that local ranks use together. */
typedef struct sk_region {
    uint64_t at;    /* 0: none */
    uint64_t stamp; /* another one whenever memory serves other ranks */
    bool used;      /* it has served others and is not all zero */
} sk_region;

/* A region for `users` local ranks, all of which will release it. None if there is no space. */
sk_region sk_node_memory_take(sk_node_memory *m, size_t bytes, int users);
void *sk_node_memory_at(const sk_node_memory *m, sk_region r);

/* `keep`: the same ranks may take it again as they leave it, unless others needed the space. */
void sk_node_memory_release(sk_node_memory *m, sk_region r, bool keep);
bool sk_node_memory_retake(sk_node_memory *m, sk_region r, int users);
bool sk_node_memory_forget(sk_node_memory *m, sk_region r); /* false: it is in use again */

/* The leader publishes a region under the number of its communicator; it does so for one
 * communicator at a time. When all others have attached, it withdraws it. */
void sk_node_memory_publish(sk_node_memory *m, int number, sk_region r);
bool sk_node_memory_attached_by(const sk_node_memory *m, int others);
void sk_node_memory_withdraw(sk_node_memory *m);

/* The region that local rank `leader` publishes under this number; none yet: false. */
bool sk_node_memory_attach(sk_node_memory *m, int leader, int number, sk_region *r);

#endif
