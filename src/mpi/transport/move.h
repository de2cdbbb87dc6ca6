/* move.h: copies of a few bytes, without a call. */
#ifndef SK_MOVE_H
#define SK_MOVE_H

#include <stdint.h>
#include <string.h>

#include "base/attr.h"

/* The parts may overlap: everything is read before anything is written. */
static SK_INLINED void sk_move(char *to, const char *from, size_t n)
{
    uint64_t head, tail;
    if (n < sizeof head || n > 2 * sizeof head) {
        memmove(to, from, n);
        return;
    }
    memcpy(&head, from, sizeof head);
    memcpy(&tail, from + n - sizeof tail, sizeof tail);
    memcpy(to, &head, sizeof head);
    memcpy(to + n - sizeof tail, &tail, sizeof tail);
}

#endif
