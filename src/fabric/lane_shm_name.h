/* lane_shm_name.h: an endpoint's name on the shared-memory lane: the process and its descriptor of
 * the inbox. The key that stands in the memory follows from the endpoint's id, which peers know
 * anyway. */
#ifndef SK_LANE_SHM_NAME_H
#define SK_LANE_SHM_NAME_H

#include "fabric/lane_shm.h"

typedef struct sk_shm_lane_name {
    int32_t pid, fd;
} sk_shm_lane_name;

static inline void sk_shm_lane_key(uint64_t id, uint64_t key[2])
{
    key[0] = id;
    key[1] = ~id * UINT64_C(0x9e3779b97f4a7c15);
}

static inline bool sk_shm_lane_name_read(const void *bytes, size_t len, sk_shm_lane_name *out)
{
    sk_shm_lane_name name;
    if (len != sizeof name)
        return false;
    memcpy(&name, bytes, sizeof name);
    if (name.pid <= 0 || name.fd < 0)
        return false;
    *out = name;
    return true;
}

#endif
