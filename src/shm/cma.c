#include "shm/cma.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

sk_export_handle sk_cma_export(const void *address)
{
    return (sk_export_handle){.address = (uint64_t)(uintptr_t)address, .pid = (int32_t)getpid()};
}

sk_status sk_cma_read(sk_export_handle from, int64_t offset, void *to, int64_t len)
{
    uintptr_t source = (uintptr_t)from.address + (uintptr_t)offset;
    char *target = to;
    while (len > 0) {
        struct iovec here = {target, (size_t)len}, there = {(void *)source, (size_t)len};
        ssize_t got = process_vm_readv(from.pid, &here, 1, &there, 1, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return SK_WIRE;
        target += got;
        source += (uintptr_t)got;
        len -= got;
    }
    return SK_OK;
}
