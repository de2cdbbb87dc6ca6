/* alive.c: peers on other nodes that have not been heard of for a while are sent an empty packet,
 * now one and then another. The inner provider finds out that a peer is dead only by sending to it,
 * and one who only waits for it sends nothing. Node mates need no such thing: their lane looks
 * itself. */
#include <time.h>

#include "fabric/endpoint.h"

enum { EVERY_MS = 20 };

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The next peer of the inner lane, going round; NULL: there is none. */
static sk_peer *alive_next(sk_ep *ep)
{
    for (uint32_t i = 0; i < ep->npeers; i++) {
        uint32_t number = ep->alive_next++ % ep->npeers;
        sk_peer *p = ep->peer[number];
        if (p && p->state == SK_PEER_HERE && p->lane == ep->inner.lane)
            return p;
    }
    return NULL;
}

void sk_ep_alive(sk_ep *ep)
{
    sk_packet head = {.type = SK_PACKET_CREDIT};
    int64_t now = now_ms();
    if (now - ep->alive_at < EVERY_MS)
        return;
    ep->alive_at = now;
    sk_peer *p = alive_next(ep);
    if (!p)
        return;
    if (!p->heard && sk_chain_empty(&p->notes))
        (void)sk_peer_transmit(ep, p, &head, NULL, 0); /* the lane tells what comes of it */
    p->heard = false;
}
