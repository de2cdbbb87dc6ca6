/* progress.c: look what the lanes have, and send what waits. Every lane is asked every time: each
 * knows itself how often it is worth a look at its wires. */
#include <stddef.h>
#include <string.h>

#include "fabric/endpoint.h"

enum { CALLS = 256 }; /* polls before the clock is worth a look */

static void packet_use(sk_ep *ep, sk_peer *p, sk_lane *lane, const sk_packet *head,
                       const void *payload)
{
    switch ((sk_packet_type)head->type) {
    case SK_PACKET_EAGER:
        sk_arrive_eager(ep, p, head, payload);
        break;
    case SK_PACKET_OFFER:
        sk_arrive_offer(ep, p, head, lane);
        break;
    case SK_PACKET_ASK:
        sk_offer_asked(ep, p, head);
        break;
    case SK_PACKET_DATA:
        sk_take_data(ep, p, head, payload);
        break;
    case SK_PACKET_DONE:
        sk_offer_done(ep, p, head);
        break;
    default: /* CREDIT: every head has it */
        break;
    }
}

static sk_peer *packet_from(sk_ep *ep, uint64_t id)
{
    if (ep->last && ep->last->id == id)
        return ep->last;
    sk_peer *p = sk_ep_peer(ep, sk_av_number(ep->av, id));
    if (p)
        ep->last = p;
    return p;
}

void sk_ep_glance(void *self, uint64_t from, const void *data, size_t len)
{
    const sk_port *port = self;
    const sk_ep *ep = port->ep;
    sk_packet head = {0};
    if (!ep->matcher || !ep->last || ep->last->id != from || len < offsetof(sk_packet, len))
        return;
    memcpy(&head, data, offsetof(sk_packet, len));
    const sk_match_item item = {
        .tag = head.tag, .source = ep->last->number, .kind = sk_kind_came(&head)};
    sk_matcher_prefetch(ep->matcher, &item);
}

void sk_ep_packet(void *self, uint64_t from, const void *data, size_t len)
{
    const sk_port *port = self;
    sk_ep *ep = port->ep;
    sk_packet head;
    const void *payload;
    size_t paid;
    sk_peer *p = packet_from(ep, from);
    if (SK_UNLIKELY(!p)) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA, "out of memory: endpoint %016llx is not heard\n",
                (unsigned long long)from);
        return;
    }
    if (SK_UNLIKELY(p->state == SK_PEER_GONE))
        return;
    if (SK_UNLIKELY(sk_packet_read(data, len, &head, &payload, &paid) != SK_OK)) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA, "endpoint %016llx sends what is not a packet\n",
                (unsigned long long)from);
        sk_peer_lose(ep, p, FI_EIO);
        return;
    }
    p->credit += head.credit;
    p->heard = true;
    packet_use(ep, p, port->lane, &head, payload);
}

int sk_ep_progress(sk_ep *ep)
{
    int n = 0;
    if (ep->shm.lane)
        n = ep->shm.lane->ops->poll(ep->shm.lane);
    if (ep->inner.lane) {
        n += ep->inner.lane->ops->poll(ep->inner.lane);
        if (SK_UNLIKELY(++ep->polls % CALLS == 0))
            sk_ep_alive(ep);
    }
    if (SK_UNLIKELY(!sk_chain_empty(&ep->busy) || !sk_chain_empty(&ep->again)))
        sk_ep_flush(ep);
    return n;
}
