/* loopback.c: an endpoint sends to itself. No lane is needed: a short message arrives within the
 * call; a long one is a rendezvous whose receive copies from the send. */
#include <string.h>

#include "fabric/proto/endpoint.h"

static int loopback_eager(sk_endpoint *ep, sk_peer *p, const sk_endpoint_call *c, sk_packet *head)
{
    const void *payload = c->niov ? c->iov[0].iov_base : NULL;
    char *whole = NULL;
    if (c->niov > 1) {
        size_t at = 0;
        payload = whole = sk_buffer_cache_get(&ep->buffers, c->len);
        if (!whole)
            return -FI_ENOMEM;
        for (size_t i = 0; i < c->niov; at += c->iov[i++].iov_len)
            memcpy(whole + at, c->iov[i].iov_base, c->iov[i].iov_len);
    }
    head->len = c->len;
    p->credit -= sk_credit_cost(c->len);
    (void)sk_eager_arrive(ep, p, head, payload); /* there is no peer to disconnect */
    if (whole)
        sk_buffer_cache_put(&ep->buffers, whole, c->len);
    return 0;
}

int sk_loopback_send(sk_endpoint *ep, sk_peer *p, const sk_endpoint_call *c, sk_packet *head)
{
    sk_send_req *s = NULL;
    if (!sk_matching_get(ep, sk_queue_of_packet(head->flags)))
        return -FI_ENOMEM;
    if (!p->granted)
        sk_credit_grant(ep, p);
    if (sk_eager_fits(p, c->len, c->flags)) {
        int rc = loopback_eager(ep, p, c, head);
        if (rc == 0)
            sk_send_complete(ep, c->context, c->flags);
        return rc;
    }
    int rc = sk_rendezvous_loopback(ep, p, c, head, &s);
    if (rc != 0)
        return rc;
    sk_packet rts = s->head; /* s may have ended when the RTS has arrived */
    (void)sk_rendezvous_arrive(ep, p, &rts, NULL);
    return 0;
}
