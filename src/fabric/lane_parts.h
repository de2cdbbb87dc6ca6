/* lane_parts.h: what the lanes have in common: packets in parts, arrays that grow. */
#ifndef SK_LANE_PARTS_H
#define SK_LANE_PARTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

static inline size_t sk_parts_len(const struct iovec *part, int nparts)
{
    size_t len = 0;
    for (int i = 0; i < nparts; i++)
        len += part[i].iov_len;
    return len;
}

static inline void sk_parts_copy(unsigned char *to, const struct iovec *part, int nparts)
{
    for (int i = 0; i < nparts; i++)
        if (part[i].iov_len) {
            memcpy(to, part[i].iov_base, part[i].iov_len);
            to += part[i].iov_len;
        }
}

/* Room for one more than `count` items: the array, perhaps elsewhere, or NULL, and it is as it was.
 */
static inline void *sk_items_grow(void *items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return items;
    uint32_t more = *room ? 2 * *room : 16;
    void *moved = realloc(items, more * size);
    if (moved)
        *room = more;
    return moved;
}

#endif
