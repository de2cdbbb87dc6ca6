/* flush.c: send what had to wait: answers first, since others wait for them; then messages, in the
 * order they were called; then data that was asked for, beginning with another one each time. */
#include "fabric/endpoint.h"

static int flush_notes(sk_ep *ep, sk_peer *p)
{
    while (!sk_chain_empty(&p->notes)) {
        sk_note *n = SK_CHAINED(p->notes.next, sk_note, chain);
        int rc = sk_peer_transmit(ep, p, &n->head, NULL, 0);
        if (rc != 0)
            return rc;
        sk_chain_remove(&n->chain);
        sk_pool_put(&ep->note_pool, n);
    }
    return 0;
}

static int flush_sends(sk_ep *ep, sk_peer *p)
{
    while (!sk_chain_empty(&p->sends)) {
        int rc = sk_send_go(ep, SK_CHAINED(p->sends.next, sk_send, chain));
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int flush_streams(sk_ep *ep, sk_peer *p)
{
    while (!sk_chain_empty(&p->streams)) {
        sk_send *s = SK_CHAINED(sk_chain_pop(&p->streams), sk_send, chain);
        sk_chain_append(&p->streams, &s->chain);
        int rc = sk_offer_stream(ep, s);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static bool peer_idle(const sk_peer *p)
{
    return sk_chain_empty(&p->notes) && sk_chain_empty(&p->sends) && sk_chain_empty(&p->streams);
}

static void peer_flush(sk_ep *ep, sk_peer *p)
{
    int rc = p->state == SK_PEER_NEW ? sk_peer_reach(ep, p) : 0;
    if (rc == 0)
        rc = flush_notes(ep, p);
    if (rc == 0)
        rc = flush_sends(ep, p);
    if (rc == 0)
        rc = flush_streams(ep, p);
    if (rc == 0)
        sk_credit_send(ep, p);
    if (rc != 0 && rc != -EAGAIN)
        sk_peer_lose(ep, p, sk_lane_error(rc));
    if (p->state < SK_PEER_FAR && (rc == -EAGAIN || !peer_idle(p)))
        sk_peer_busy(ep, p);
}

void sk_ep_flush(sk_ep *ep)
{
    sk_chain todo, *at;
    sk_chain_init(&todo);
    sk_chain_move(&todo, &ep->busy);
    while ((at = sk_chain_pop(&todo)))
        peer_flush(ep, SK_CHAINED(at, sk_peer, busy));
    sk_chain_move(&todo, &ep->again);
    while ((at = sk_chain_pop(&todo)))
        sk_take_again(ep, SK_CHAINED(at, sk_recv, again));
}
