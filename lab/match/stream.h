/* stream.h: a sequence of matching operations of one rank, in memory: the records of a trace
 * (trace.h), read from a file or made by a generator. Generators are deterministic: the same
 * arguments give the same stream on every machine. */
#ifndef SK_STREAM_H
#define SK_STREAM_H

#include "match/trace.h"

typedef struct sk_stream {
    uint32_t nranks;
    sk_trace_record *ops;
    size_t n, capacity;
    uint32_t items; /* posts and deliveries so far */
    bool failed;    /* out of memory: some operations are missing */
} sk_stream;

void sk_stream_free(sk_stream *s);

/* Append a record and set its op and id. A failure is noted in the stream, so that generators need
 * no checks. */
void sk_stream_post(sk_stream *s, sk_trace_record r);
void sk_stream_deliver(sk_stream *s, sk_trace_record r);

/* Reads a trace. SK_WIRE, SK_BADARG: `err` says what is wrong with the file. */
sk_status sk_stream_read(const char *path, sk_stream *out, char *err, size_t size);

/* Tags as Open MPI gives them to libfabric: communicator, two bits of its protocol, 32-bit tag.
 * Receives always ignore the protocol bits. */
#define SK_OMPI_TAG_PROTOCOL (UINT64_C(3) << 32)
#define SK_OMPI_TAG_ANY      UINT64_C(0x7fffffff) /* the bits that MPI_ANY_TAG ignores */

static inline uint64_t sk_ompi_tag(uint32_t comm, int32_t tag)
{
    return (uint64_t)comm << 34 | (uint32_t)tag;
}

/* A synthetic stream: rounds of `depth` receives and `depth` messages. One side fills its queue,
 * then the other side empties it in the given order. Rounds are repeated until there are at least
 * `pairs` pairs. Each pair has its own tag, so every search has one right answer, and a list finds
 * it at the position that the order gives. */
typedef enum sk_order { SK_FORWARD, SK_REVERSE, SK_RANDOM, SK_NORDERS } sk_order;
const char *sk_order_name(sk_order o);

typedef struct sk_synthetic {
    uint32_t depth, sources, pairs;
    sk_match_side first; /* the side that fills its queue */
    sk_order order;
    int wild;     /* per cent of the receives that take any source */
    bool any_tag; /* these take any tag, too, of messages on a communicator of their own */
    uint64_t seed;
} sk_synthetic;

sk_status sk_stream_synthetic(const sk_synthetic *w, sk_stream *out);

#endif
