/* credit.c: how much may come unasked. Everybody may send SK_FIRST_CREDIT bytes of eager messages
 * to everybody; who does gets its share of SKEIN_UNEXPECTED with the first answer. A message costs
 * what it takes here while no receive wants it; when one has taken it, the credit goes back with
 * the next packet, or in one of its own when much has gathered. A sender without credit offers its
 * message instead, so credit that comes late costs time and nothing else. */
#include "fabric/endpoint.h"

enum { PARTS = 4 }; /* of the window: when so much is owed it is sent */

static uint64_t credit_share(const sk_ep *ep)
{
    uint64_t all = ep->domain->config.unexpected;
    uint64_t peers = ep->av->count ? ep->av->count : SK_FEW_PEERS;
    if (peers < ep->av->nknown)
        peers = ep->av->nknown;
    uint64_t left = all > ep->granted ? all - ep->granted : 0;
    return all / peers < left ? all / peers : left;
}

void sk_credit_welcome(sk_ep *ep, sk_peer *p)
{
    uint64_t share = credit_share(ep);
    p->welcomed = true;
    if (share <= p->window)
        return;
    if (p->state == SK_PEER_SELF)
        p->credit += share - p->window;
    else
        p->owed += share - p->window;
    p->window = share;
    ep->granted += share;
}

bool sk_credit_take(sk_ep *ep, sk_peer *p, uint64_t cost)
{
    if (SK_UNLIKELY(!p->welcomed)) {
        sk_credit_welcome(ep, p);
        sk_credit_send(ep, p);
    }
    if (p->held + cost > p->window)
        return false;
    p->held += cost;
    return true;
}

void sk_credit_give(sk_ep *ep, sk_peer *p, uint64_t cost)
{
    p->held -= cost;
    if (p->state == SK_PEER_SELF) {
        p->credit += cost;
        return;
    }
    p->owed += cost;
    if (p->owed >= p->window / PARTS)
        sk_credit_send(ep, p);
}

void sk_credit_send(sk_ep *ep, sk_peer *p)
{
    sk_packet head = {.type = SK_PACKET_CREDIT};
    if (p->owed < p->window / PARTS || p->state == SK_PEER_FAR || p->state == SK_PEER_GONE)
        return;
    if (p->state == SK_PEER_NEW || sk_peer_transmit(ep, p, &head, NULL, 0) == -EAGAIN)
        sk_peer_busy(ep, p);
}
