/* compare.h: runs one stream through all engines, checks that they give the same matches, and
 * measures the time of each. The engines alternate within one process, so that other load on the
 * machine slows all of them alike. */
#ifndef SK_MATCH_COMPARE_H
#define SK_MATCH_COMPARE_H

#include "bench/stats.h"
#include "lab/match/replay.h"

enum { SK_COMPARE_MAX = 16 }; /* engines */

typedef enum sk_compare_state {
    SK_COMPARE_OK,
    SK_COMPARE_TOO_LONG,
    SK_COMPARE_WRONG, /* gives other matches than the engines before it */
} sk_compare_state;

typedef struct sk_engine_result {
    const char *engine;
    bool left_out; /* set by the caller: the engine is known to take too long */
    sk_compare_state state;
    double ns;       /* per match, median of the rounds */
    sk_spread ratio; /* time of `list` / time of this engine in the same round: above 1, it is
                        faster than list; NaN if list did not run */
    int rounds;
    sk_replay_result first; /* of the first run, complete unless it took too long */
} sk_engine_result;

typedef struct sk_comparison {
    sk_match_config config;
    int rounds;
    double limit;   /* seconds for one run */
    double seconds; /* for the timed rounds of all engines; it limits the number of rounds */
    sk_engine_result c[SK_COMPARE_MAX];
    int n;
} sk_comparison;

/* SK_BADARG: the stream cannot be replayed; `err` says why. */
sk_status sk_compare_run(sk_comparison *k, const sk_stream *s, char *err, size_t size);

const sk_engine_result *sk_compare_find(const sk_comparison *k, const char *engine); /* or NULL */
const sk_engine_result *sk_compare_fastest(const sk_comparison *k); /* of the first runs, or NULL */
bool sk_compare_wrong(const sk_comparison *k);                      /* the engines disagree */

#endif
