/* waits.h: what the ranks know for a report besides counts: their communicators by name, and who waited for whom.
 *
 * Each rank keeps a row for all communicators of the same ranks and name. It notes when it entered some of the
 * blocking calls, and how long they took. Which ones follows from the number of the call in the row, so that all
 * ranks note the same ones and nothing is sent meanwhile. If there are too many, half of them are dropped. At the
 * end rank 0 gets the rows of all ranks. A call has waited from its entry until the last rank entered, at most
 * until it returned. */
#ifndef SK_WAITS_H
#define SK_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/random.h"
#include "base/status.h"
#include "coll/call.h"

enum {
    SK_WAITS_NAME = 64,     /* longer names are cut */
    SK_WAITS_ROWS = 64,     /* of a rank; what comes later shares the last one */
    SK_WAITS_SAMPLES = 512, /* of a row */
};

/* The graph of a neighbourhood at this rank. */
typedef struct sk_waits_graph {
    int32_t in, out; /* neighbours */
    int32_t local;   /* of `out`, on the same node */
    int32_t algo;    /* that served last, by sk_algo_index; -1: the host */
    int64_t calls;   /* 0: no neighbourhood */
} sk_waits_graph;

typedef struct sk_waits_sample {
    uint32_t call; /* number in the row */
    uint32_t coll;
    int64_t from, took; /* ns */
} sk_waits_sample;

typedef struct sk_waits_row {
    uint64_t ranks; /* a number for the ranks and the name, the same at all of them; 0: not known */
    char name[SK_WAITS_NAME];
    int32_t nranks, nsamples;
    int64_t communicators, calls, ns; /* calls: blocking ones; ns: also waiting for others */
    uint64_t mask; /* calls are noted if these bits of their mixed number are 0 */
    sk_waits_graph graph;
    sk_waits_sample *sample;
} sk_waits_row;

typedef struct sk_waits sk_waits;

sk_waits *sk_waits_new(void); /* NULL: out of memory */
void sk_waits_free(sk_waits *p);

/* The row of a communicator that was not seen before. `ranks`: a number for its ranks; 0: not known. Never NULL. */
sk_waits_row *sk_waits_row_of(sk_waits *p, uint64_t ranks, int nranks, const char *name);

static inline uint64_t sk_waits_mix(uint64_t call)
{
    return sk_random_mix(call + 1); /* 0 stays 0, but the first call is none of the usual ones */
}

void sk_waits_thin(sk_waits_row *r);

/* A blocking call that began at some time and took so long. One thread at a time. */
static inline void sk_waits_call(sk_waits_row *r, sk_coll coll, int64_t from, int64_t took)
{
    uint64_t call = (uint64_t)r->calls++;
    r->ns += took;
    if ((sk_waits_mix(call) & r->mask) || !r->sample || call > UINT32_MAX)
        return;
    r->sample[r->nsamples++] = (sk_waits_sample){(uint32_t)call, (uint32_t)coll, from, took};
    if (r->nsamples == SK_WAITS_SAMPLES)
        sk_waits_thin(r);
}

/* A nonblocking call was waited for. */
void sk_waits_wait(sk_waits *p, int64_t ns);

/* Everything in one piece of memory, to be freed, with at most so many samples. `offset` is added to all times, and
 * `drift` times the time. NULL: out of memory. */
typedef struct sk_waits_clock {
    int64_t offset;
    double drift;
} sk_waits_clock;
/* What comes first in it; then come the rows, and their samples. */
typedef struct sk_waits_head {
    int64_t nrows, waited_ns;
} sk_waits_head;
void *sk_waits_pack(sk_waits *p, int most, sk_waits_clock clock, size_t *bytes);

/* ---- at rank 0 ---- */

typedef struct sk_waits_sum sk_waits_sum;

sk_waits_sum *sk_waits_sum_new(int nranks);
void sk_waits_sum_free(sk_waits_sum *s);

/* Takes what rank `rank`, on node `node`, has packed. */
sk_status sk_waits_take(sk_waits_sum *s, int rank, int node, const void *packed, size_t bytes);
sk_status sk_waits_finish(sk_waits_sum *s); /* after all of them */

/* "communicators": [...], "neighborhoods": [...], "ranks_time": {...}, "waiting": {...}, each with a comma. */
void sk_waits_json(const sk_waits_sum *s, FILE *out);

#endif
