/* trace_read.h: reads the traces that trace.h writes. */
#ifndef SK_TRACE_READ_H
#define SK_TRACE_READ_H

#include "match/trace.h"

/* Sources are array indices of engines: this bounds the memory that a file can ask for. */
enum { SK_TRACE_MAX_SOURCES = 1 << 24 };

/* Reads the whole file; the caller frees *out. SK_BADARG: the file is not valid; SK_WIRE: it cannot
 * be read. `err` gets the reason. */
sk_status sk_trace_read(const char *path, uint32_t *nranks, sk_trace_record **out, size_t *count,
                        char *err, size_t size);

#endif
