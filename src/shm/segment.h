/* segment.h: memory shared by the processes of a node. It has no name in any file system, so
 * nothing is left of it when the last process that mapped it is gone, however it went. Its maker
 * keeps it open until all have mapped it; the others reach it through the maker's entry in /proc,
 * which only processes of the same user can. */
#ifndef SK_SEGMENT_H
#define SK_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* What the maker tells the others. The key, random, stands at the start of the memory: whoever
 * finds another there has opened something else, as may happen between containers. */
typedef struct sk_segment_handle {
    uint64_t key[2];
    int32_t pid, fd;
} sk_segment_handle;

enum { SK_SEGMENT_HEAD = 64 }; /* bytes at the start that belong to the segment itself */

/* New memory, all zero. The note is for the others; sk_segment_close once they have it. */
sk_status sk_segment_make(size_t bytes, void **mem, sk_segment_handle *note);
void sk_segment_close(const sk_segment_handle *note);

sk_status sk_segment_map(const sk_segment_handle *note, size_t bytes, void **mem);
void sk_segment_unmap(void *mem, size_t bytes);

#endif
