/* tally.h: what the schedules of all ranks of a call send, least, mean and most. */
#ifndef SK_TALLY_H
#define SK_TALLY_H

#include "coll/algo.h"
#include "shape.h"

typedef struct sk_range {
    int64_t least, most;
    double mean;
} sk_range;

typedef struct sk_tally {
    sk_range rounds, sends, send_bytes, reduce_bytes, scratch;
    int ranks;         /* counted: a sample, evenly spread, when there are very many */
    bool unknown_size; /* some messages carry their length with them */
} sk_tally;

/* `r`: new names of the ranks, or NULL. */
sk_status sk_tally_take(const sk_algo *a, const sk_shape_room *room, int nranks, const sk_rename *r,
                        sk_tally *out);

#endif
