/* cma.h: cross-memory attach: read the memory of another process of the node in a single copy, where
 * the kernel allows it (process_vm_readv). */
#ifndef SK_CMA_H
#define SK_CMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* An exported address, as other processes need it. */
typedef struct sk_export_handle {
    uint64_t address;
    int32_t pid, unused;
} sk_export_handle;

sk_export_handle sk_cma_export(const void *address);

/* Read `len` bytes from byte `offset` of the exported memory on. SK_WIRE: the kernel does not allow
 * it, or nothing is mapped there. */
sk_status sk_cma_read(sk_export_handle from, int64_t offset, void *to, int64_t len);

#endif
