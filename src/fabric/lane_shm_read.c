/* lane_shm_read.c: long messages in one copy, straight out of the sender's memory, where the kernel
 * allows it. Whether it does is tried once for each peer, on a word whose value is known. */
#include "fabric/lane_shm.h"
#include "shm/cma.h"

int sk_shm_lane_expose(sk_lane *l, const void *data, size_t len, sk_lane_source *out, void **handle)
{
    if (!l->reads)
        return -EPERM;
    *out = (sk_lane_source){.at = (uint64_t)(uintptr_t)data, .len = len};
    *handle = NULL;
    return 0;
}

void sk_shm_lane_conceal(sk_lane *l, void *handle)
{
    (void)l;
    (void)handle;
}

static bool mate_readable(sk_shm_lane_mate *m)
{
    uint64_t found = 0;
    sk_export_handle probe = {.at = m->inbox->probe, .pid = m->process.pid};
    if (m->readable == SK_READ_UNTRIED) {
        bool yes = sk_cma_read(probe, 0, &found, sizeof found) == SK_OK && found == m->id;
        m->readable = yes ? SK_READ_YES : SK_READ_NO;
    }
    return m->readable == SK_READ_YES;
}

int sk_shm_lane_read(sk_lane *l, uint32_t peer, const sk_lane_source *from, uint64_t skip, void *to,
                     size_t len, void *context)
{
    sk_shm_lane *s = (sk_shm_lane *)l;
    (void)context;
    if (peer >= s->nmates || skip > from->len || len > from->len - skip || len > INT64_MAX)
        return -EINVAL;
    sk_shm_lane_mate *m = &s->mates[peer];
    if (!m->inbox)
        return -EPIPE;
    if (!l->reads || !mate_readable(m))
        return -EPERM;
    sk_export_handle place = {.at = from->at + skip, .pid = m->process.pid};
    if (sk_cma_read(place, 0, to, (int64_t)len) == SK_OK)
        return 1;
    return sk_process_ended(&m->process) ? -EPIPE : -EFAULT;
}
