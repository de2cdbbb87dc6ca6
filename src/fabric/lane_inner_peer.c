/* lane_inner_peer.c: get to know peers. */
#include "fabric/lane_inner.h"
#include "fabric/lane_parts.h"

int sk_inner_reach(sk_lane *l, uint64_t id, const void *name, size_t len, uint32_t *peer)
{
    sk_inner *s = (sk_inner *)l;
    if (len <= SK_INNER_KIND || len > sizeof s->name)
        return -EINVAL;
    for (uint32_t i = 0; i < s->npeers; i++)
        if (s->peers[i].id == id) {
            *peer = i;
            return 0;
        }
    /* Same kind, so names are of one length. */
    if (memcmp(name, s->name, SK_INNER_KIND) != 0 || len != s->name_len)
        return -ENETUNREACH;
    sk_inner_peer *peers = sk_items_grow(s->peers, s->npeers, &s->room, sizeof *peers);
    if (!peers)
        return -ENOMEM;
    s->peers = peers;
    sk_inner_peer *p = &peers[s->npeers];
    int err = sk_inner_wake(s);
    if (err)
        return err;
    *p = (sk_inner_peer){.id = id, .probe = -1};
    memcpy(p->name, (const uint8_t *)name + SK_INNER_KIND, len - SK_INNER_KIND);
    if (fi_av_insert(s->av, p->name, 1, &p->addr, 0, NULL) != 1)
        return -ENETUNREACH;
    *peer = s->npeers++;
    return 0;
}
