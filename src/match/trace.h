/* trace.h: writes the operations of a matcher to a file, so that they can be replayed (lab/match).
 *
 * The file begins with a line of 64 bytes ("skein-trace 1 nranks N little-endian", spaces,
 * newline). Records of fixed size follow, in the byte order that the line names. Only whole records
 * are written, so the trace of a killed program can be read. */
#ifndef SK_TRACE_H
#define SK_TRACE_H

#include <inttypes.h>

#include "match/matcher.h"

enum { SK_TRACE_HEAD = 64 }; /* bytes of the first line */

#define SK_TRACE_MAGIC "skein-trace "
#define SK_TRACE_WORDS SK_TRACE_MAGIC "1 nranks %" PRIu32 " %s"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SK_TRACE_ORDER "little-endian"
#else
#define SK_TRACE_ORDER "big-endian"
#endif

typedef enum sk_trace_op {
    SK_TRACE_POST,
    SK_TRACE_DELIVER,
    SK_TRACE_PROBE,
    SK_TRACE_CLAIM,
    SK_TRACE_CANCEL,
    SK_TRACE_NOPS
} sk_trace_op;

/* One operation. `id` is the number of an item: the posts and deliveries of the file are counted
 * from 0, whether they match at once or not. CLAIM and CANCEL name the item they remove. PROBE
 * holds the receive it searches for and has no id. */
typedef struct sk_trace_record {
    uint64_t tag, ignore;
    uint32_t source, nranks, call;
    uint32_t id;
    uint16_t kind;
    uint8_t size, op;
    uint32_t depth; /* length of the searched queue before the operation */
} sk_trace_record;

/* SK_WIRE: the file cannot be written; see errno. */
sk_status sk_trace_new(const char *path, uint32_t nranks, sk_trace **out);
/* By one thread at a time. Errors are reported by sk_trace_free. */
void sk_trace_write(sk_trace *t, const sk_trace_record *r);
/* Flushes. SK_WIRE: not all records could be written; see errno. NULL is allowed. */
sk_status sk_trace_free(sk_trace *t);

#endif
