/* credit.c: credit-based flow control of eager messages. Every endpoint may send SK_FIRST_CREDIT
 * bytes of eager messages to every other. After its first message it gets its share of
 * SKEIN_UNEXPECTED as its window. A message costs the memory it takes here while it waits for a
 * receive. When it is consumed, the credit returns with the next packet to its sender, or in a
 * CREDIT packet of its own if much is owed. A sender without credit uses rendezvous, so late credit
 * costs time but never blocks. */
#include "fabric/proto/endpoint.h"

enum { PARTS = 4 }; /* credit is returned when a PARTS-th of the window is owed */

static uint64_t credit_share(const sk_endpoint *ep)
{
    uint64_t all = ep->config->unexpected;
    uint64_t peers = ep->ids->expected ? ep->ids->expected : SK_FEW_PEERS;
    if (peers < ep->ids->count)
        peers = ep->ids->count;
    uint64_t left = all > ep->granted ? all - ep->granted : 0;
    return all / peers < left ? all / peers : left;
}

void sk_credit_grant(sk_endpoint *ep, sk_peer *p)
{
    uint64_t share = credit_share(ep);
    p->granted = true;
    if (share <= p->window)
        return;
    if (p->state == SK_PEER_LOOPBACK)
        p->credit += share - p->window;
    else
        p->owed += share - p->window;
    p->window = share;
    ep->granted += share;
}

bool sk_credit_charge(sk_endpoint *ep, sk_peer *p, uint64_t cost)
{
    if (SK_UNLIKELY(!p->granted)) {
        sk_credit_grant(ep, p);
        sk_credit_return(ep, p);
    }
    if (p->held + cost > p->window)
        return false;
    p->held += cost;
    return true;
}

void sk_credit_release(sk_endpoint *ep, sk_peer *p, uint64_t cost)
{
    SK_ASSERT(p->held >= cost);
    p->held -= cost;
    if (p->state == SK_PEER_LOOPBACK) {
        p->credit += cost;
        return;
    }
    p->owed += cost;
    if (p->owed >= p->window / PARTS)
        sk_credit_return(ep, p);
}

void sk_credit_return(sk_endpoint *ep, sk_peer *p)
{
    sk_packet head = {.type = SK_PACKET_CREDIT};
    if (p->owed < p->window / PARTS || p->state == SK_PEER_UNREACHABLE || p->state == SK_PEER_GONE)
        return;
    if (p->state == SK_PEER_NEW || sk_peer_transmit(p, &head, NULL, 0) == -EAGAIN)
        sk_peer_schedule(ep, p);
}
