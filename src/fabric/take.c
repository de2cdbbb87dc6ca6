/* take.c: the receiver's side of an offer. Where the lane can, the data is read straight from the
 * sender's memory into the buffer of the receive; else it is asked for and comes in packets. Either
 * way the sender is told at the end. */
#include "fabric/endpoint.h"

static void take_tell(sk_ep *ep, sk_peer *p, uint64_t token, int err)
{
    sk_packet head = {.type = SK_PACKET_DONE, .token = token, .len = (uint64_t)err};
    sk_peer_note(ep, p, &head);
}

static void take_end(sk_ep *ep, sk_recv *r, int err)
{
    sk_peer *p = r->peer;
    uint64_t token = r->token;
    sk_recv_end(ep, r, err);
    take_tell(ep, p, token, err);
}

static void take_ask(sk_ep *ep, sk_recv *r)
{
    r->got = 0;
    r->answer = sk_handles_add(&ep->recvs, r);
    if (!r->answer) {
        take_end(ep, r, FI_ENOMEM);
        return;
    }
    sk_packet head = {
        .type = SK_PACKET_ASK, .len = r->want, .token = r->token, .answer = r->answer};
    sk_peer_note(ep, r->peer, &head);
}

/* Where the next byte goes, and how many fit there. */
static void *take_place(const sk_recv *r, size_t *len)
{
    uint64_t at = r->got, rest = r->want - r->got;
    size_t i = 0;
    while (at >= r->iov[i].iov_len)
        at -= r->iov[i++].iov_len;
    size_t here = r->iov[i].iov_len - at;
    *len = here < rest ? here : rest;
    return (char *)r->iov[i].iov_base + at;
}

static void take_by_reading(sk_ep *ep, sk_recv *r)
{
    sk_lane *lane = r->peer->lane;
    while (r->got < r->want) {
        void *to = take_place(r, &r->piece);
        int rc = lane->ops->read(lane, r->peer->on, &r->source, r->got, to, r->piece, r);
        if (rc == 1) {
            r->got += r->piece;
        } else if (rc == 0) {
            r->reading = true;
            return;
        } else if (rc == -EAGAIN) {
            sk_chain_append(&ep->again, &r->again);
            return;
        } else if (rc == -EPERM) {
            take_ask(ep, r);
            return;
        } else {
            take_end(ep, r, sk_lane_error(rc));
            return;
        }
    }
    take_end(ep, r, 0);
}

/* Go on with a receive whose message is known. */
void sk_take_again(sk_ep *ep, sk_recv *r)
{
    sk_peer *p = r->peer;
    if (p->state == SK_PEER_SELF) {
        sk_self_take(ep, r);
    } else if (p->state >= SK_PEER_FAR) {
        sk_recv_end(ep, r, FI_ECONNRESET);
    } else if (r->want == 0) {
        take_end(ep, r, 0);
    } else if (p->state == SK_PEER_NEW) { /* a lane to it is needed: not from within an event */
        sk_chain_append(&ep->again, &r->again);
        sk_peer_busy(ep, p);
    } else if (r->readable && r->lane == p->lane && p->lane->can_read) {
        take_by_reading(ep, r);
    } else {
        take_ask(ep, r);
    }
}

void sk_take_start(sk_ep *ep, sk_recv *r, sk_msg *m)
{
    r->peer = m->peer;
    r->source = m->source;
    r->lane = m->lane;
    r->readable = m->flags & SK_PACKET_EXPOSED;
    r->msg_flags = m->flags;
    r->data = m->data;
    r->tag = m->item.tag;
    r->len = m->len;
    r->token = m->token;
    r->got = 0;
    r->want = m->len < r->room ? m->len : r->room;
    sk_chain_append(&r->peer->takes, &r->chain);
    sk_msg_free(ep, m);
    sk_take_again(ep, r);
}

void sk_take_refuse(sk_ep *ep, sk_msg *m)
{
    sk_send *own = m->peer->state == SK_PEER_SELF ? sk_handles_find(&ep->sends, m->token) : NULL;
    if (own)
        sk_send_end(ep, own, 0);
    else
        take_tell(ep, m->peer, m->token, 0);
    sk_msg_free(ep, m);
}

void sk_take_data(sk_ep *ep, sk_peer *p, const sk_packet *head, const void *payload)
{
    sk_recv *r = sk_handles_find(&ep->recvs, head->answer);
    if (!r || r->peer != p || head->offset != r->got || head->len > r->want - r->got) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA, "endpoint %016llx sends data nobody asked for\n",
                (unsigned long long)p->id);
        return;
    }
    sk_recv_store(r, r->got, payload, head->len);
    r->got += head->len;
    if (r->got == r->want)
        take_end(ep, r, 0);
}

void sk_take_read(void *port, void *context, int status)
{
    sk_ep *ep = ((sk_port *)port)->ep;
    sk_recv *r = context;
    r->reading = false;
    if (status == -EPERM) {
        take_ask(ep, r);
    } else if (status != 0) {
        take_end(ep, r, sk_lane_error(status));
    } else {
        r->got += r->piece;
        if (r->got == r->want)
            take_end(ep, r, 0);
        else
            sk_take_again(ep, r);
    }
}
