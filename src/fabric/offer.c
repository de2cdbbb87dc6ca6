/* offer.c: the sender's side of a message whose data stays here until its receive is known. The
 * receiver reads it from our memory and says so, or asks for it in packets. */
#include "fabric/endpoint.h"

/* Let the receiver read, where the lane can do that; else it will ask. */
static void offer_expose(sk_send *s)
{
    sk_lane *lane = s->peer->lane;
    sk_lane_source source;
    if (s->is_exposed || !lane->can_read || s->niov != 1 || !s->len)
        return;
    if (lane->ops->export(lane, s->iov[0].iov_base, s->len, &source, &s->exposed) != 0)
        return;
    s->is_exposed = true;
    s->head.flags |= SK_PACKET_EXPOSED;
    s->head.offset = source.at;
    s->head.key = source.key;
}

int sk_offer_make(sk_ep *ep, sk_send *s)
{
    if (!s->head.token)
        s->head.token = sk_handles_add(&ep->sends, s);
    if (!s->head.token)
        return -FI_ENOMEM;
    offer_expose(s);
    s->head.type = SK_PACKET_OFFER;
    s->head.len = s->len;
    int rc = sk_peer_transmit(ep, s->peer, &s->head, NULL, 0);
    if (rc != 0)
        return rc;
    if (sk_chain_in(&s->chain))
        sk_chain_remove(&s->chain);
    s->state = SK_SEND_OFFERED;
    sk_chain_append(&s->peer->offers, &s->chain);
    return 0;
}

/* The parts of a message from `at` on, `len` bytes of them. Number of parts. */
static size_t offer_slice(const sk_send *s, uint64_t at, size_t len, struct iovec *part)
{
    size_t n = 0;
    for (size_t i = 0; i < s->niov && len; i++) {
        size_t here = s->iov[i].iov_len;
        if (at >= here) {
            at -= here;
            continue;
        }
        size_t take = here - at < len ? here - at : len;
        part[n++] = (struct iovec){(char *)s->iov[i].iov_base + at, take};
        len -= take;
        at = 0;
    }
    return n;
}

/* The data has left: its buffer is free, but some want to know that it was received. */
static void offer_sent(sk_ep *ep, sk_send *s)
{
    if (!(s->flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE))) {
        sk_send_end(ep, s, 0);
        return;
    }
    s->state = SK_SEND_SENT;
    sk_chain_remove(&s->chain);
    sk_chain_append(&s->peer->offers, &s->chain);
}

int sk_offer_stream(sk_ep *ep, sk_send *s)
{
    size_t most = s->peer->lane->max_packet - sk_packet_head(SK_PACKET_DATA);
    struct iovec part[SK_MAX_IOV];
    while (s->sent < s->asked) {
        uint64_t rest = s->asked - s->sent;
        size_t len = rest < most ? rest : most;
        sk_packet head = {
            .type = SK_PACKET_DATA, .len = len, .answer = s->answer, .offset = s->sent};
        int rc = sk_peer_transmit(ep, s->peer, &head, part, offer_slice(s, s->sent, len, part));
        if (rc != 0)
            return rc;
        s->sent += len;
    }
    offer_sent(ep, s);
    return 0;
}

/* The send that a peer speaks of; NULL: it has no such send from us (any more). */
static sk_send *offer_find(sk_ep *ep, const sk_peer *p, uint64_t token)
{
    sk_send *s = sk_handles_find(&ep->sends, token);
    return s && s->peer == p && s->state != SK_SEND_WAITS ? s : NULL;
}

void sk_offer_asked(sk_ep *ep, sk_peer *p, const sk_packet *head)
{
    sk_send *s = offer_find(ep, p, head->token);
    if (!s || s->state != SK_SEND_OFFERED || p->state != SK_PEER_HERE) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA, "endpoint %016llx asks for what it was not offered\n",
                (unsigned long long)p->id);
        return;
    }
    s->state = SK_SEND_STREAMS;
    s->asked = head->len < s->len ? head->len : s->len;
    s->answer = head->answer;
    sk_chain_remove(&s->chain);
    sk_chain_append(&p->streams, &s->chain);
    if (sk_offer_stream(ep, s) != 0)
        sk_peer_busy(ep, p);
}

void sk_offer_done(sk_ep *ep, sk_peer *p, const sk_packet *head)
{
    sk_send *s = offer_find(ep, p, head->token);
    if (s) /* else its data had left before: it has ended then */
        sk_send_end(ep, s, (int)head->len);
}
