/* trace_head.h: the first line of a trace, for its writer and its reader. */
#ifndef SK_TRACE_HEAD_H
#define SK_TRACE_HEAD_H

#include <inttypes.h>

enum { SK_TRACE_HEAD = 64 };

#define SK_TRACE_MAGIC "skein-trace "
#define SK_TRACE_WORDS SK_TRACE_MAGIC "1 nranks %" PRIu32 " %s"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SK_TRACE_ORDER "little-endian"
#else
#define SK_TRACE_ORDER "big-endian"
#endif

#endif
