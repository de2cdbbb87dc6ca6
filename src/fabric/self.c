/* self.c: an endpoint sends to itself. No lane is needed: a short message arrives within the call,
 * a long one is an offer whose data the receive copies from the send. */
#include <string.h>

#include "fabric/endpoint.h"

static int self_eager(sk_ep *ep, sk_peer *p, const sk_want *w, sk_packet *head)
{
    const void *payload = w->niov ? w->iov[0].iov_base : NULL;
    char *whole = NULL;
    if (w->niov > 1) {
        size_t at = 0;
        payload = whole = sk_buffers_get(&ep->buffers, w->len);
        if (!whole)
            return -FI_ENOMEM;
        for (size_t i = 0; i < w->niov; at += w->iov[i++].iov_len)
            memcpy(whole + at, w->iov[i].iov_base, w->iov[i].iov_len);
    }
    head->len = w->len;
    p->credit -= sk_credit_cost(w->len);
    sk_arrive_eager(ep, p, head, payload);
    if (whole)
        sk_buffers_put(&ep->buffers, whole, w->len);
    return 0;
}

int sk_self_send(sk_ep *ep, sk_peer *p, const sk_want *w, sk_packet *head)
{
    sk_send *s = NULL;
    if (!sk_ep_match(ep))
        return -FI_ENOMEM;
    if (w->len <= p->eager && sk_credit_cost(w->len) <= p->credit &&
        !(w->flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE))) {
        int rc = self_eager(ep, p, w, head);
        if (rc == 0)
            sk_send_complete(ep, w->context, w->flags);
        return rc;
    }
    int rc = sk_send_offer(ep, p, w, head, &s);
    if (rc != 0)
        return rc;
    sk_packet offer = s->head; /* s may have ended when it has arrived */
    sk_arrive_offer(ep, p, &offer, NULL);
    return 0;
}

void sk_self_take(sk_ep *ep, sk_recv *r)
{
    sk_send *s = sk_handles_find(&ep->sends, r->token);
    for (size_t i = 0; s && i < s->niov && r->got < r->want; i++) {
        uint64_t rest = r->want - r->got;
        size_t len = s->iov[i].iov_len < rest ? s->iov[i].iov_len : rest;
        sk_recv_store(r, r->got, s->iov[i].iov_base, len);
        r->got += len;
    }
    sk_recv_end(ep, r, s ? 0 : FI_EIO);
    if (s)
        sk_send_end(ep, s, 0);
}
