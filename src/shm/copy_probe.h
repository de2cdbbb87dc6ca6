/* copy_probe.h: measure what copies between two local ranks cost here: some 0.2 ms, once per job.
 *
 * One process alone cannot tell: within its caches a copy is several times cheaper than one of bytes
 * that another core has just written. So two ranks copy, one after the other, over a few chunks of
 * shared memory:
 *
 *   first   sk_copy_probe_fill    touches the memory, and writes bytes for the second
 *   second  sk_copy_probe_take    copies them out, and reads the first's own memory in place
 *   first   sk_copy_probe_refill  copies into chunks that the second has read; frees the memory
 *
 * In between the caller passes a note on, by any means. Only the copies are timed, not the waits, and
 * one of the shortest times counts: so it does not matter how long the other one is away, nor that the
 * machine is busy. If both are on one core and may be on others, the second moves for the time. */
#ifndef SK_COPY_PROBE_H
#define SK_COPY_PROBE_H

#include "base/copy_prices.h"
#include "shm/cma.h"

enum { SK_PROBE_CHUNK = 16 << 10, SK_PROBE_CHUNKS = 8 };
enum { SK_PROBE_BYTES = SK_PROBE_CHUNK * SK_PROBE_CHUNKS };

/* What the first tells the second. */
typedef struct sk_copy_probe_note {
    sk_export_handle at; /* its own memory */
    int32_t cpu;         /* it runs on; -1: it has nothing to measure with */
    int32_t unused;
} sk_copy_probe_note;

typedef struct sk_copy_probe {
    char *shared; /* SK_PROBE_BYTES, zero at first, and zero again at the end */
    char *own;
    sk_copy_probe_note note;
} sk_copy_probe;

void sk_copy_probe_fill(sk_copy_probe *p, void *shared);
/* Each fills in the prices that it can measure. */
void sk_copy_probe_take(void *shared, const sk_copy_probe_note *note, sk_copy_prices *out);
void sk_copy_probe_refill(sk_copy_probe *p, sk_copy_prices *out);

/* Make measured prices those of two cores, where they were measured on one: a virtual machine runs its
 * processors where it likes, at times two on one core, and moves them. */
void sk_copy_prices_of_two_cores(sk_copy_prices *p);

#endif
