/* contest.h: all engines on one stream: do they give the same matches, and how long does each take?
 * They play by turns in one process, so that what slows the machine slows them all. */
#ifndef SK_CONTEST_H
#define SK_CONTEST_H

#include "bench/match/play.h"
#include "bench/stats.h"

enum { SK_CONTEST_MAX = 16 };

typedef enum sk_fate {
    SK_FATE_RAN,
    SK_FATE_TOO_LONG,
    SK_FATE_WRONG, /* other matches than the engines before it */
} sk_fate;

typedef struct sk_contestant {
    const char *engine;
    bool left_out; /* set before: it is known to take too long */
    sk_fate fate;
    double ns;       /* per match, median of the rounds */
    sk_spread ratio; /* of the times of `list` and of this one in the same round: above 1, it is
                        faster than list; NaN when list has not run */
    int rounds;
    sk_played played; /* the first play, which was complete unless it took too long */
} sk_contestant;

typedef struct sk_contest {
    sk_match_config config;
    int rounds;
    double limit;   /* seconds for one play */
    double seconds; /* for the timed rounds of all: fewer rounds are made where it is not enough */
    sk_contestant c[SK_CONTEST_MAX];
    int n;
} sk_contest;

/* SK_BADARG: the stream cannot be played, `err` says why. */
sk_status sk_contest_run(sk_contest *k, const sk_stream *s, char *err, size_t size);

const sk_contestant *sk_contest_find(const sk_contest *k, const char *engine); /* or NULL */
const sk_contestant *sk_contest_any(const sk_contest *k); /* one that ran to the end, or NULL */
bool sk_contest_wrong(const sk_contest *k);               /* the engines disagree */

#endif
