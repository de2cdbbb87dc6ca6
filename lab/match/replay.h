/* replay.h: runs a stream through a matching engine. */
#ifndef SK_REPLAY_H
#define SK_REPLAY_H

#include "lab/match/stream.h"

/* Holds the items of a stream; can run it any number of times. At first every item has its own
 * memory. After sk_replay_reuse_items, items use the memory of items that have matched, as a
 * program reuses its requests. */
typedef struct sk_replay sk_replay;

typedef struct sk_replay_result {
    bool complete;    /* false: stopped at the limit; the rest is about the part that was run */
    double seconds;   /* including the initialisation of the items */
    uint64_t ops;     /* operations run */
    uint64_t matches; /* pairs that have matched, and messages claimed after a probe */
    uint64_t result;  /* checksum of what the operations returned: equal for equal matches, if both
                         runs are complete and both before or both after sk_replay_reuse_items */
    sk_match_stats stats;
} sk_replay_result;

sk_status sk_replay_new(const sk_stream *s, sk_replay **out); /* keeps the stream */
void sk_replay_free(sk_replay *p);

/* SK_BADARG: no such engine. config->nranks 0: that of the stream. Stops after `limit` seconds of
 * processor time. */
sk_status sk_replay_run(sk_replay *p, const char *engine, const sk_match_config *config,
                        double limit, sk_replay_result *out);

/* Call it after a complete run. SK_BADARG: the stream claims or cancels an item that is gone; only
 * a stream that was read from a file can do so. */
sk_status sk_replay_reuse_items(sk_replay *p);

/* Sums over both sides, of point-to-point items or of all others. */
typedef struct sk_search_sums {
    uint64_t searches, traversals, found;
} sk_search_sums;
sk_search_sums sk_search_sums_of(const sk_match_stats *s, bool p2p);

double sk_seconds(void); /* of a monotonic clock */

#endif
