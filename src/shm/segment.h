/* segment.h: memory shared by the processes of a node. It is a memfd, which has no name in any file
 * system: nothing is left of it when the last process that mapped it has ended, in whatever way. The
 * creator keeps it open until all have mapped it. The others open it through the creator's entry in
 * /proc, which only processes of the same user can. */
#ifndef SK_SEGMENT_H
#define SK_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* What the creator sends to the others. The key is random and is stored at the start of the memory.
 * A process that finds another key there has opened something else, as can happen between
 * containers. */
typedef struct sk_segment_handle {
    uint64_t key[2];
    int32_t pid, fd;
} sk_segment_handle;

enum { SK_SEGMENT_HEAD = 64 }; /* bytes at the start that belong to the segment itself */

/* Create a segment, all zero. Close the handle when all others have mapped the segment. */
sk_status sk_segment_make(size_t bytes, void **mem, sk_segment_handle *handle);
void sk_segment_close(const sk_segment_handle *handle);

sk_status sk_segment_map(const sk_segment_handle *handle, size_t bytes, void **mem);
void sk_segment_unmap(void *mem, size_t bytes);

#endif
