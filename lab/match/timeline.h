/* timeline.h: what one rank receives, as a sequence of events: pairs of a receive and its message,
 * each with the time at which the receive is posted and the time at which the message arrives. The
 * models of applications (app.h) add pairs. The timeline sorts them into a stream. */
#ifndef SK_TIMELINE_H
#define SK_TIMELINE_H

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

sk_timeline *sk_timeline_new(sk_stream *to, uint64_t seed); /* NULL: out of memory */
void sk_timeline_free(sk_timeline *t);
/* Appends the events to the stream by time and empties the timeline. */
void sk_timeline_flush(sk_timeline *t);

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
