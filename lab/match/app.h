/* app.h: models of the applications of the message-matching paper (apps.def), as one of their ranks
 * sees them.
 *
 * A model describes what the rank receives on a timeline: pairs of a receive and its message, each
 * with the time at which the receive is posted and the time at which the message arrives. The
 * timeline sorts these events and appends them to a stream. */
#ifndef SK_APP_H
#define SK_APP_H

#include "lab/match/stream.h"

/* The kinds of collectives, numbered as in the preload library: 1 + the collective's number. */
enum {
    SK_KIND_P2P,
#define COLL(ID, name, what) SK_KIND_##ID,
#include "coll/colls.def"
#undef COLL
    SK_NKINDS
};

typedef struct sk_timeline sk_timeline;

typedef struct sk_app {
    const char *name, *help;
    int steps; /* default number of steps */
    void (*step)(sk_timeline *t, uint32_t nranks);
} sk_app;

enum { SK_APP_MIN_RANKS = 8 };

const sk_app *sk_app_get(int i); /* NULL past the end */
const sk_app *sk_app_find(const char *name);

/* `steps` 0: the default of the application. SK_BADARG: too few ranks. */
sk_status sk_stream_app(const sk_app *app, uint32_t nranks, int steps, uint64_t seed,
                        sk_stream *out);

/* For models. */

/* The pairs that follow belong to a new call of a collective with messages of `bytes` bytes. */
void sk_timeline_coll(sk_timeline *t, uint16_t kind, uint64_t bytes);
/* The pairs that follow are point-to-point. */
void sk_timeline_p2p(sk_timeline *t, uint64_t bytes);

/* `tag` distinguishes point-to-point messages, or the phases of a collective. */
void sk_timeline_pair(sk_timeline *t, uint32_t source, int tag, double posted, double arrives);

double sk_timeline_random(sk_timeline *t); /* from 0 to below 1 */
uint32_t sk_timeline_random_below(sk_timeline *t, uint32_t n);

/* A collective in which this rank exchanges a message with log2(nranks) others, one after the other
 * (recursive doubling, binomial tree, dissemination). The share `early` of the messages arrives
 * before its receive is posted. Starts at time `start`; every phase takes 1. Returns the end
 * time. */
double sk_timeline_doubling(sk_timeline *t, uint32_t nranks, double start, double early);

/* A collective whose receives, from `width` others, are all posted at time `start`. The messages
 * arrive in random order until `start` + 1, the share `early` of them before `start`. Returns the
 * end time. */
double sk_timeline_all_at_once(sk_timeline *t, uint32_t nranks, uint32_t width, double start,
                               double early);

#endif
