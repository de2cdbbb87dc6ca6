/* send.c: sends. A short message goes out at once with its data (eager) as long as there is
 * credit at the receiver; others use rendezvous. A message that the lane has no space for waits at
 * its peer, and so do all later messages to the same peer, so that none overtakes another. */
#include "fabric/proto/endpoint.h"

/* The slow path: no credit, no space, a long message, or others wait before it. */
static int send_queued(sk_endpoint *ep, sk_peer *p, const sk_endpoint_call *c,
                       const sk_packet *head)
{
    sk_send_req *s = NULL;
    if (c->len <= p->eager) /* credit or space may have come */
        sk_endpoint_progress(ep);
    if (p->state != SK_PEER_CONNECTED)
        return -FI_ECONNRESET;
    /* The caller of an injected send may next wait for something else, without progress here: it is
     * accepted only when the lane has connected. Refused nonblocking sends come back without a copy. */
    if (c->flags & FI_INJECT && !p->reached && sk_eager_fits(p, c->len, c->flags))
        return -FI_EAGAIN;
    int rc = sk_send_new(ep, p, c, head, &s);
    if (rc != 0)
        return rc;
    rc = sk_list_empty(&p->sends) ? sk_send_start(ep, s) : -EAGAIN;
    if (rc == -EAGAIN) {
        sk_list_append(&p->sends, &s->node);
        sk_peer_schedule(ep, p);
        return 0;
    }
    if (rc != 0)
        sk_send_free(ep, s);
    return rc;
}

static inline int peer_of(sk_endpoint *ep, fi_addr_t addr, sk_peer **out)
{
    uint32_t number = sk_id_at(ep->ids, addr);
    if (number < ep->npeers && ep->peer[number] && ep->peer[number]->state == SK_PEER_CONNECTED) {
        *out = ep->peer[number];
        return 0;
    }
    return sk_peer_at(ep, addr, out);
}

int sk_endpoint_send(sk_endpoint *ep, const sk_endpoint_call *c)
{
    sk_peer *p = NULL;
    int rc = peer_of(ep, c->addr, &p);
    if (SK_UNLIKELY(rc != 0))
        return rc;
    if (SK_UNLIKELY(!sk_completion_reserve(ep->tx)))
        return -FI_ENOMEM;
    sk_packet head = {.type = SK_PACKET_EAGER, .data = (uint32_t)c->data, .tag = c->tag};
    if (c->flags & FI_REMOTE_CQ_DATA)
        head.flags = SK_PACKET_HAS_DATA;
    if (SK_UNLIKELY(c->flags & FI_MSG))
        head.flags |= SK_PACKET_UNTAGGED;
    else
        sk_kind_send(&ep->kinds, c->len, &head);
    bool own = head.flags & SK_PACKET_OWN_KIND;
    if (ep->own_contexts && c->context)
        ((struct fi_context *)c->context)->internal[0] = NULL;
    if (p->state == SK_PEER_LOOPBACK) {
        rc = sk_loopback_send(ep, p, c, &head);
    } else {
        rc = sk_list_empty(&p->sends) && sk_eager_fits(p, c->len, c->flags)
                 ? sk_peer_transmit(p, &head, c->iov, c->niov)
                 : -EAGAIN;
        if (rc == 0) {
            p->credit -= sk_credit_cost(c->len);
            sk_send_complete(ep, c->context, c->flags);
        } else if (rc == -EAGAIN) {
            rc = send_queued(ep, p, c, &head);
        }
    }
    if (SK_UNLIKELY(rc != 0)) {
        sk_completion_unreserve(ep->tx);
        return -sk_lane_error(rc);
    }
    if (own)
        sk_kind_accept(&ep->kinds);
    return 0;
}
