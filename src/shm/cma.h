/* peek.h: read another process's memory without its help, in one copy, where the kernel allows. */
#ifndef SK_PEEK_H
#define SK_PEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Where something lies, as others need it. */
typedef struct sk_peek_place {
    uint64_t at;
    int32_t pid, unused;
} sk_peek_place;

sk_peek_place sk_peek_here(const void *at);

/* SK_WIRE: the kernel does not let us, or there is nothing. */
sk_status sk_peek(sk_peek_place from, int64_t skip, void *to, int64_t len);

#endif
