/* peek.h: read another process's memory without its help, in one copy, where the kernel allows. */
#ifndef SK_CMA_H
#define SK_CMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Where something lies, as others need it. */
typedef struct sk_export_handle {
    uint64_t at;
    int32_t pid, unused;
} sk_export_handle;

sk_export_handle sk_cma_export(const void *at);

/* SK_WIRE: the kernel does not let us, or there is nothing. */
sk_status sk_cma_read(sk_export_handle from, int64_t skip, void *to, int64_t len);

#endif
