/* keepalive.c: an empty packet, from time to time, to a peer of the core lane that was silent. The
 * core provider detects a dead peer only by sending to it, and an endpoint that only waits sends
 * nothing. Local peers need no keepalive: the shm lane checks their processes itself. */
#include <time.h>

#include "fabric/proto/endpoint.h"

enum { EVERY_MS = 20 };

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The next peer of the core lane, round robin; NULL: there is none. */
static sk_peer *next_peer(sk_endpoint *ep)
{
    for (uint32_t i = 0; i < ep->npeers; i++) {
        uint32_t number = ep->keepalive_next++ % ep->npeers;
        sk_peer *p = ep->peer[number];
        if (p && p->state == SK_PEER_CONNECTED && p->lane == ep->core.lane)
            return p;
    }
    return NULL;
}

void sk_keepalive(sk_endpoint *ep)
{
    sk_packet head = {.type = SK_PACKET_CREDIT};
    int64_t now = now_ms();
    if (now - ep->keepalive_at < EVERY_MS)
        return;
    ep->keepalive_at = now;
    sk_peer *p = next_peer(ep);
    if (!p)
        return;
    if (!p->heard && sk_list_empty(&p->controls))
        (void)sk_peer_transmit(p, &head, NULL, 0); /* the lane reports a failure */
    p->heard = false;
}
