/* rendezvous.c: messages whose data stays with the sender until their receive is known.
 *
 *   sender                      receiver
 *   RTS  -------------------->  matches, or waits in the matcher
 *                               if the data is exported and the lane can read it:
 *        <--------------------  reads it into the user's buffer (single copy), then FIN
 *                               else:
 *        <--------------------  CTS (bytes wanted)
 *   DATA, DATA, ...  -------->  copies the segments into the user's buffer
 *        <--------------------  FIN
 *
 * cost   RTS + FIN and one copy, or RTS + CTS + DATA packets + FIN and two copies
 *
 * The sender's request completes when its data has left: at FIN if the receiver reads, else after
 * the last DATA packet, unless the call asks for completion at the receiver (SK_REMOTE_COMPLETION).
 */
#include "fabric/proto/endpoint.h"

/* --- the sender's side --- */

/* Let the receiver read the data if the lane can do that. Else it will ask for DATA packets. */
static void send_export(sk_send_req *s)
{
    sk_lane *lane = s->peer->lane;
    sk_lane_source source;
    if (s->exported || !lane->can_read || s->niov != 1 || !s->len)
        return;
    if (lane->ops->export(lane, s->iov[0].iov_base, s->len, &source, &s->export_handle) != 0)
        return;
    s->exported = true;
    s->head.flags |= SK_PACKET_EXPORTED;
    s->head.offset = source.at;
    s->head.key = source.key;
}

int sk_rendezvous_send_rts(sk_endpoint *ep, sk_send_req *s)
{
    SK_ASSERT(s->state == SK_SEND_QUEUED);
    if (!s->head.send_handle)
        s->head.send_handle = sk_handle_add(&ep->sends, s);
    if (!s->head.send_handle)
        return -FI_ENOMEM;
    send_export(s);
    s->head.type = SK_PACKET_RTS;
    s->head.len = s->len;
    int rc = sk_peer_transmit(s->peer, &s->head, NULL, 0);
    if (rc != 0)
        return rc;
    if (sk_list_linked(&s->node))
        sk_list_remove(&s->node);
    s->state = SK_SEND_RTS_SENT;
    sk_list_append(&s->peer->rts_sent, &s->node);
    return 0;
}

int sk_rendezvous_loopback(sk_endpoint *ep, sk_peer *p, const sk_endpoint_call *c,
                           const sk_packet *head, sk_send_req **out)
{
    sk_send_req *s = NULL;
    int rc = sk_send_new(ep, p, c, head, &s);
    if (rc != 0)
        return rc;
    s->head.send_handle = sk_handle_add(&ep->sends, s);
    if (!s->head.send_handle) {
        sk_send_free(ep, s);
        return -FI_ENOMEM;
    }
    s->head.type = SK_PACKET_RTS;
    s->head.len = s->len;
    s->state = SK_SEND_RTS_SENT;
    sk_list_append(&p->rts_sent, &s->node);
    *out = s;
    return 0;
}

/* The parts of a message from `at` on, `len` bytes of them. Returns the number of parts. */
static size_t send_slice(const sk_send_req *s, uint64_t at, size_t len, struct iovec *part)
{
    size_t n = 0;
    for (size_t i = 0; i < s->niov && len; i++) {
        size_t here = s->iov[i].iov_len;
        if (at >= here) {
            at -= here;
            continue;
        }
        size_t bytes = here - at < len ? here - at : len;
        part[n++] = (struct iovec){(char *)s->iov[i].iov_base + at, bytes};
        len -= bytes;
        at = 0;
    }
    return n;
}

/* All DATA has left: the user's buffer is free. */
static void stream_end(sk_endpoint *ep, sk_send_req *s)
{
    if (!(s->flags & SK_REMOTE_COMPLETION)) {
        sk_send_end(ep, s, 0);
        return;
    }
    s->state = SK_SEND_AWAITS_FIN;
    sk_list_remove(&s->node);
    sk_list_append(&s->peer->rts_sent, &s->node);
}

int sk_rendezvous_stream(sk_endpoint *ep, sk_send_req *s)
{
    size_t most = s->peer->lane->max_packet - sk_packet_header_size(SK_PACKET_DATA);
    struct iovec part[SK_MAX_IOV];
    SK_ASSERT(s->state == SK_SEND_STREAMING && s->sent <= s->wanted);
    while (s->sent < s->wanted) {
        uint64_t rest = s->wanted - s->sent;
        size_t len = rest < most ? rest : most;
        sk_packet head = {
            .type = SK_PACKET_DATA, .len = len, .recv_handle = s->recv_handle, .offset = s->sent};
        int rc = sk_peer_transmit(s->peer, &head, part, send_slice(s, s->sent, len, part));
        if (rc != 0)
            return rc;
        s->sent += len;
    }
    stream_end(ep, s);
    return 0;
}

/* The send that a peer names; NULL: it has no such send from us (any more). */
static sk_send_req *send_find(sk_endpoint *ep, const sk_peer *p, uint64_t handle)
{
    sk_send_req *s = sk_handle_find(&ep->sends, handle);
    return s && s->peer == p && s->state != SK_SEND_QUEUED ? s : NULL;
}

void sk_rendezvous_cts(sk_endpoint *ep, sk_peer *p, const sk_packet *head)
{
    sk_send_req *s = send_find(ep, p, head->send_handle);
    if (!s || s->state != SK_SEND_RTS_SENT || p->state != SK_PEER_CONNECTED) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA, "endpoint %016llx sends CTS without an RTS of ours\n",
                (unsigned long long)p->id);
        return;
    }
    s->state = SK_SEND_STREAMING;
    s->wanted = head->len < s->len ? head->len : s->len;
    s->recv_handle = head->recv_handle;
    sk_list_remove(&s->node);
    sk_list_append(&p->streams, &s->node);
    if (sk_rendezvous_stream(ep, s) != 0)
        sk_peer_schedule(ep, p);
}

void sk_rendezvous_fin(sk_endpoint *ep, sk_peer *p, const sk_packet *head)
{
    sk_send_req *s = send_find(ep, p, head->send_handle);
    if (s) /* else it was completed when its last DATA packet had left */
        sk_send_end(ep, s, (int)head->len);
}

/* --- the receiver's side --- */

static void send_fin(sk_endpoint *ep, sk_peer *p, uint64_t send_handle, int err)
{
    sk_packet head = {.type = SK_PACKET_FIN, .send_handle = send_handle, .len = (uint64_t)err};
    sk_peer_control(ep, p, &head);
}

static void recv_finish(sk_endpoint *ep, sk_recv_req *r, int err)
{
    sk_peer *p = r->peer;
    uint64_t send_handle = r->send_handle;
    sk_recv_end(ep, r, err);
    send_fin(ep, p, send_handle, err);
}

static void send_cts(sk_endpoint *ep, sk_recv_req *r)
{
    r->received = 0;
    r->recv_handle = sk_handle_add(&ep->recvs, r);
    if (!r->recv_handle) {
        recv_finish(ep, r, FI_ENOMEM);
        return;
    }
    sk_packet head = {.type = SK_PACKET_CTS,
                      .len = r->total,
                      .send_handle = r->send_handle,
                      .recv_handle = r->recv_handle};
    sk_peer_control(ep, r->peer, &head);
}

/* Where the next byte goes, and how many bytes fit there. */
static void *recv_next(const sk_recv_req *r, size_t *len)
{
    uint64_t at = r->received, rest = r->total - r->received;
    size_t i = 0;
    while (at >= r->iov[i].iov_len)
        at -= r->iov[i++].iov_len;
    size_t here = r->iov[i].iov_len - at;
    *len = here < rest ? here : rest;
    return (char *)r->iov[i].iov_base + at;
}

static void recv_read(sk_endpoint *ep, sk_recv_req *r)
{
    sk_lane *lane = r->peer->lane;
    while (r->received < r->total) {
        void *to = recv_next(r, &r->chunk);
        int rc =
            lane->ops->read(lane, r->peer->lane_peer, &r->source, r->received, to, r->chunk, r);
        if (rc == 1) {
            r->received += r->chunk;
        } else if (rc == 0) {
            r->reading = true;
            return;
        } else if (rc == -EAGAIN) {
            sk_list_append(&ep->retry, &r->retry);
            return;
        } else if (rc == -EPERM) {
            send_cts(ep, r);
            return;
        } else {
            recv_finish(ep, r, sk_lane_error(rc));
            return;
        }
    }
    recv_finish(ep, r, 0);
}

/* Sender and receiver are this endpoint: copy the data. */
static void recv_copy(sk_endpoint *ep, sk_recv_req *r)
{
    sk_send_req *s = sk_handle_find(&ep->sends, r->send_handle);
    for (size_t i = 0; s && i < s->niov && r->received < r->total; i++) {
        uint64_t rest = r->total - r->received;
        size_t len = s->iov[i].iov_len < rest ? s->iov[i].iov_len : rest;
        sk_recv_store(r, r->received, s->iov[i].iov_base, len);
        r->received += len;
    }
    sk_recv_end(ep, r, s ? 0 : FI_EIO);
    if (s)
        sk_send_end(ep, s, 0);
}

/* Start or continue a receive whose message is known. */
void sk_rendezvous_resume(sk_endpoint *ep, sk_recv_req *r)
{
    sk_peer *p = r->peer;
    if (p->state == SK_PEER_LOOPBACK) {
        recv_copy(ep, r);
    } else if (p->state >= SK_PEER_UNREACHABLE) {
        sk_recv_end(ep, r, FI_ECONNRESET);
    } else if (r->total == 0) {
        recv_finish(ep, r, 0);
    } else if (p->state == SK_PEER_NEW) { /* progress connects it, not an event handler */
        sk_list_append(&ep->retry, &r->retry);
        sk_peer_schedule(ep, p);
    } else if (r->readable && r->lane == p->lane && p->lane->can_read) {
        recv_read(ep, r);
    } else {
        send_cts(ep, r);
    }
}

void sk_rendezvous_receive(sk_endpoint *ep, sk_recv_req *r, sk_msg *m)
{
    r->peer = m->peer;
    r->source = m->source;
    r->lane = m->lane;
    r->readable = m->flags & SK_PACKET_EXPORTED;
    r->msg_flags = m->flags;
    r->data = m->data;
    r->tag = m->item.tag;
    r->len = m->len;
    r->send_handle = m->send_handle;
    r->received = 0;
    r->total = m->len < r->capacity ? m->len : r->capacity;
    sk_list_append(&r->peer->receiving, &r->node);
    sk_msg_free(ep, m);
    sk_rendezvous_resume(ep, r);
}

int sk_rendezvous_arrive(sk_endpoint *ep, sk_peer *p, const sk_packet *head, sk_lane *lane)
{
    sk_msg *m = sk_msg_new(ep, p, head);
    sk_matcher *matcher = sk_matching_get(ep, sk_queue_of_packet(head->flags));
    if (SK_UNLIKELY(!m || !matcher))
        return FI_ENOMEM;
    if (!p->granted) {
        sk_credit_grant(ep, p);
        sk_credit_return(ep, p);
    }
    m->rendezvous = true;
    m->send_handle = head->send_handle;
    m->source = (sk_lane_source){head->offset, head->key, head->len};
    m->lane = lane;
    sk_match_item *found = sk_matcher_deliver(matcher, &m->item);
    if (found)
        sk_rendezvous_receive(ep, (sk_recv_req *)found, m);
    return 0;
}

void sk_rendezvous_discard(sk_endpoint *ep, sk_msg *m)
{
    sk_send_req *own =
        m->peer->state == SK_PEER_LOOPBACK ? sk_handle_find(&ep->sends, m->send_handle) : NULL;
    if (own)
        sk_send_end(ep, own, 0);
    else
        send_fin(ep, m->peer, m->send_handle, 0);
    sk_msg_free(ep, m);
}

void sk_rendezvous_data(sk_endpoint *ep, sk_peer *p, const sk_packet *head, const void *payload)
{
    sk_recv_req *r = sk_handle_find(&ep->recvs, head->recv_handle);
    if (!r || r->peer != p || head->offset != r->received || head->len > r->total - r->received) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA, "endpoint %016llx sends data nobody asked for\n",
                (unsigned long long)p->id);
        return;
    }
    sk_recv_store(r, r->received, payload, head->len);
    r->received += head->len;
    if (r->received == r->total)
        recv_finish(ep, r, 0);
}

void sk_rendezvous_read(sk_endpoint *ep, sk_recv_req *r, int status)
{
    SK_ASSERT(r->reading && r->received + r->chunk <= r->total);
    r->reading = false;
    if (status == -EPERM) { /* ask for DATA packets, unless the peer is gone meanwhile */
        r->readable = false;
        sk_rendezvous_resume(ep, r);
    } else if (status != 0) {
        recv_finish(ep, r, sk_lane_error(status));
    } else {
        r->received += r->chunk;
        if (r->received == r->total)
            recv_finish(ep, r, 0);
        else
            sk_rendezvous_resume(ep, r);
    }
}
