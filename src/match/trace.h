/* trace.h: what a matcher was asked, in a file, to be played again. A line of text of 64 bytes
 * ("skein-trace 1 nranks N little-endian", spaces, newline), then records of fixed size in the byte
 * order it names. Files are written record-wise, so that a killed program leaves one that can be
 * read. Reading checks every field: a file may come from anywhere. */
#ifndef SK_TRACE_H
#define SK_TRACE_H

#include "match/match.h"

typedef enum sk_trace_op {
    SK_TRACE_POST,
    SK_TRACE_DELIVER,
    SK_TRACE_PEEK,
    SK_TRACE_CLAIM,
    SK_TRACE_CANCEL,
    SK_TRACE_NOPS
} sk_trace_op;

/* Sources are array indices of engines: a file may not ask for any amount of memory. */
enum { SK_TRACE_SOURCES = 1 << 24 };

/* One operation. `id` names an item: it counts the posts and delivers of the file from 0, whether
 * they match at once or not. CLAIM and CANCEL name the item they take; PEEK carries what it looks
 * for and has no id. */
typedef struct sk_trace_record {
    uint64_t tag, ignore;
    uint32_t source, nranks, call;
    uint32_t id;
    uint16_t kind;
    uint8_t size, op;
    uint32_t depth; /* of the queue that is searched, before */
} sk_trace_record;

/* SK_WIRE: the file cannot be written; errno tells. */
sk_status sk_trace_new(const char *path, uint32_t nranks, sk_trace **out);
/* By one thread at a time. Errors are kept for sk_trace_free. */
void sk_trace_write(sk_trace *t, const sk_trace_record *r);
/* Flushes. SK_WIRE: not all could be written; errno tells. NULL is fine. */
sk_status sk_trace_free(sk_trace *t);

/* The whole file, free(*out); `err` says what is wrong with it: SK_BADARG; SK_WIRE: it cannot be
 * read. */
sk_status sk_trace_read(const char *path, uint32_t *nranks, sk_trace_record **out, size_t *count,
                        char *err, size_t size);

const char *sk_trace_op_name(sk_trace_op op);

#endif
