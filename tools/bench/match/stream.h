/* stream.h: what the matcher of one rank is asked, in memory: the operations of a trace (trace.h),
 * from a file or from a generator. Generators are deterministic: the same arguments give the same
 * stream on every machine. */
#ifndef SK_STREAM_H
#define SK_STREAM_H

#include "lab/match/trace_read.h"

typedef struct sk_stream {
    uint32_t nranks;
    sk_trace_record *ops;
    size_t n, room;
    uint32_t items; /* posts and delivers so far */
    bool failed;    /* out of memory: some are missing */
} sk_stream;

void sk_stream_free(sk_stream *s);

/* Append; op and id are set here. Failing marks the stream, so that generators need no checks. */
void sk_stream_post(sk_stream *s, sk_trace_record r);
void sk_stream_deliver(sk_stream *s, sk_trace_record r);

/* SK_WIRE, SK_BADARG: `err` says what is wrong with the file. */
sk_status sk_stream_read(const char *path, sk_stream *out, char *err, size_t size);

/* Engines alone. Rounds of `depth` receives and messages: one side of all first, then the other in
 * this order, until there are `pairs` or more. Each has a tag of its own, so that every search has
 * one right answer, which a list finds where the order puts it. */
typedef enum sk_order { SK_FORWARD, SK_REVERSE, SK_RANDOM, SK_NORDERS } sk_order;
const char *sk_order_name(sk_order o);

typedef struct sk_synthetic {
    uint32_t depth, sources, pairs;
    sk_match_side first; /* the side that fills its queue */
    sk_order order;
    int wild;     /* per cent of the receives that take any source */
    bool any_tag; /* these take any tag too, of messages with a communicator of their own */
    uint64_t seed;
} sk_synthetic;

sk_status sk_stream_synthetic(const sk_synthetic *what, sk_stream *out);

/* The applications of the message-matching paper, as one of their ranks sees them (streams.def). */
typedef struct sk_script sk_script; /* script.h */

typedef struct sk_app {
    const char *name, *help;
    int steps; /* by default */
    void (*step)(sk_script *s, uint32_t nranks);
} sk_app;

enum { SK_APP_RANKS = 8 }; /* at least */

const sk_app *sk_app_get(int i); /* NULL past the end */
const sk_app *sk_app_find(const char *name);

/* `steps` 0: the application's own number. SK_BADARG: too few ranks. */
sk_status sk_stream_app(const sk_app *app, uint32_t nranks, int steps, uint64_t seed,
                        sk_stream *out);

#endif
