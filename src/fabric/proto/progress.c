/* progress.c: poll the lanes, dispatch their events, send what waits, and disconnect peers that are
 * gone. Every lane is polled every time; each decides itself how often it looks at its network. */
#include <stddef.h>
#include <string.h>

#include "fabric/proto/endpoint.h"

enum { KEEPALIVE_POLLS = 256 }; /* polls between two looks at the clock */

/* --- peers that are gone ---
 *
 * Everything that waits for the peer ends with an error, so that nobody waits for ever: messages to
 * it, receives that only it could match, rendezvous data. Messages that have arrived stay and can
 * be received, as far as their data has arrived too. */

static void sends_fail(sk_endpoint *ep, sk_list *list, int err)
{
    while (!sk_list_empty(list))
        sk_send_end(ep, SK_LIST_ENTRY(list->next, sk_send_req, node), err);
}

static void controls_free(sk_endpoint *ep, sk_peer *p)
{
    for (sk_list *at = p->controls.next, *next; at != &p->controls; at = next) {
        next = at->next;
        sk_object_pool_put(&ep->control_pool, SK_LIST_ENTRY(at, sk_control, node));
    }
    sk_list_init(&p->controls);
}

/* Reads in flight are left: the lane writes into their buffers until it reports their end. */
static void receiving_fail(sk_endpoint *ep, sk_peer *p, int err)
{
    for (sk_list *at = p->receiving.next, *next; at != &p->receiving; at = next) {
        sk_recv_req *r = SK_LIST_ENTRY(at, sk_recv_req, node);
        next = at->next;
        if (!r->reading)
            sk_recv_end(ep, r, err);
    }
}

static void posted_fail(sk_endpoint *ep, uint32_t source, int err)
{
    for (int q = 0; q < SK_NQUEUES; q++) {
        sk_matcher *m = ep->matcher[q];
        for (sk_match_item *at = m ? sk_matcher_next(m, SK_POSTED, NULL) : NULL, *next; at;
             at = next) {
            next = sk_matcher_next(m, SK_POSTED, at);
            if (at->source == source && sk_matcher_cancel(m, at))
                sk_recv_fail(ep, (sk_recv_req *)at, err);
        }
    }
}

static void peer_disconnect(sk_endpoint *ep, sk_peer *p, int err)
{
    if (p->state == SK_PEER_GONE || p->state == SK_PEER_LOOPBACK)
        return;
    FI_INFO(&sk_provider, FI_LOG_EP_DATA, "endpoint %016llx is gone: %s\n",
            (unsigned long long)p->id, fi_strerror(err));
    p->state = SK_PEER_GONE;
    ep->ngone++;
    if (sk_list_linked(&p->scheduled))
        sk_list_remove(&p->scheduled);
    controls_free(ep, p);
    sends_fail(ep, &p->streams, err);
    sends_fail(ep, &p->rts_sent, err);
    sends_fail(ep, &p->sends, err);
    receiving_fail(ep, p, err);
    posted_fail(ep, p->number, err);
}

/* --- events of the lanes --- */

static int packet_dispatch(sk_endpoint *ep, sk_peer *p, sk_lane *lane, const sk_packet *head,
                           const void *payload)
{
    switch ((sk_packet_type)head->type) {
    case SK_PACKET_EAGER:
        return sk_eager_arrive(ep, p, head, payload);
    case SK_PACKET_RTS:
        return sk_rendezvous_arrive(ep, p, head, lane);
    case SK_PACKET_CTS:
        sk_rendezvous_cts(ep, p, head);
        break;
    case SK_PACKET_DATA:
        sk_rendezvous_data(ep, p, head, payload);
        break;
    case SK_PACKET_FIN:
        sk_rendezvous_fin(ep, p, head);
        break;
    default: /* CREDIT: every header carries credit */
        break;
    }
    return 0;
}

static sk_peer *packet_sender(sk_endpoint *ep, uint64_t id)
{
    if (ep->last && ep->last->id == id)
        return ep->last;
    sk_peer *p = sk_peer_get(ep, sk_id_number(ep->ids, id));
    if (p)
        ep->last = p;
    return p;
}

static void on_packet(void *self, uint64_t from, const void *data, size_t len)
{
    const sk_endpoint_lane *l = self;
    sk_endpoint *ep = l->ep;
    sk_packet head;
    const void *payload;
    size_t payload_len;
    sk_peer *p = packet_sender(ep, from);
    if (SK_UNLIKELY(!p)) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA,
                "out of memory: a packet of endpoint %016llx is lost\n", (unsigned long long)from);
        return;
    }
    if (SK_UNLIKELY(p->state == SK_PEER_GONE))
        return;
    if (SK_UNLIKELY(sk_packet_read(data, len, &head, &payload, &payload_len) != SK_OK)) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA, "endpoint %016llx sends what is not a packet\n",
                (unsigned long long)from);
        peer_disconnect(ep, p, FI_EIO);
        return;
    }
    p->credit += head.credit;
    p->heard = true;
    int err = packet_dispatch(ep, p, l->lane, &head, payload);
    if (SK_UNLIKELY(err))
        peer_disconnect(ep, p, err);
}

static void on_prefetch(void *self, uint64_t from, const void *data, size_t len)
{
    const sk_endpoint_lane *l = self;
    const sk_endpoint *ep = l->ep;
    sk_packet head = {0};
    sk_matcher *m = ep->matcher[SK_TAGGED];
    if (!m || !ep->last || ep->last->id != from || len < offsetof(sk_packet, len))
        return;
    memcpy(&head, data, offsetof(sk_packet, len));
    if (head.flags & SK_PACKET_UNTAGGED)
        return;
    const sk_match_item item = {
        .tag = head.tag, .source = ep->last->number, .kind = sk_kind_of_packet(&head)};
    sk_matcher_prefetch(m, &item);
}

static void on_read(void *self, void *context, int status)
{
    const sk_endpoint_lane *l = self;
    sk_rendezvous_read(l->ep, context, status);
}

static void on_gone(void *self, uint64_t id, int status)
{
    const sk_endpoint_lane *l = self;
    sk_endpoint *ep = l->ep;
    sk_peer *p = sk_peer_get(ep, sk_id_number(ep->ids, id));
    if (p)
        peer_disconnect(ep, p, sk_lane_error(status));
}

sk_lane_events sk_endpoint_events(sk_endpoint_lane *l)
{
    return (sk_lane_events){l, on_packet, on_read, on_gone, on_prefetch};
}

/* --- sending what waits ---
 *
 * Control packets go first, since peers wait for them; then messages, in the order of their calls;
 * then DATA packets, each time starting with another message. */

int sk_send_start(sk_endpoint *ep, sk_send_req *s)
{
    sk_peer *p = s->peer;
    if (s->head.send_handle || !sk_eager_fits(p, s->len, s->flags)) /* once RTS, always RTS */
        return sk_rendezvous_send_rts(ep, s);
    s->head.type = SK_PACKET_EAGER;
    int rc = sk_peer_transmit(p, &s->head, s->iov, s->niov);
    if (rc != 0)
        return rc;
    p->credit -= sk_credit_cost(s->len);
    sk_send_end(ep, s, 0);
    return 0;
}

static int flush_controls(sk_endpoint *ep, sk_peer *p)
{
    while (!sk_list_empty(&p->controls)) {
        sk_control *c = SK_LIST_ENTRY(p->controls.next, sk_control, node);
        int rc = sk_peer_transmit(p, &c->head, NULL, 0);
        if (rc != 0)
            return rc;
        sk_list_remove(&c->node);
        sk_object_pool_put(&ep->control_pool, c);
    }
    return 0;
}

static int flush_sends(sk_endpoint *ep, sk_peer *p)
{
    while (!sk_list_empty(&p->sends)) {
        int rc = sk_send_start(ep, SK_LIST_ENTRY(p->sends.next, sk_send_req, node));
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int flush_streams(sk_endpoint *ep, sk_peer *p)
{
    while (!sk_list_empty(&p->streams)) {
        sk_send_req *s = SK_LIST_ENTRY(sk_list_pop(&p->streams), sk_send_req, node);
        sk_list_append(&p->streams, &s->node);
        int rc = sk_rendezvous_stream(ep, s);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static bool peer_idle(const sk_peer *p)
{
    return sk_list_empty(&p->controls) && sk_list_empty(&p->sends) && sk_list_empty(&p->streams);
}

static void peer_flush(sk_endpoint *ep, sk_peer *p)
{
    int rc = -p->error;
    if (rc == 0 && p->state == SK_PEER_NEW)
        rc = sk_peer_connect(ep, p);
    if (rc == 0)
        rc = flush_controls(ep, p);
    if (rc == 0)
        rc = flush_sends(ep, p);
    if (rc == 0)
        rc = flush_streams(ep, p);
    if (rc == 0)
        sk_credit_return(ep, p);
    if (rc != 0 && rc != -EAGAIN)
        peer_disconnect(ep, p, sk_lane_error(rc));
    if (p->state < SK_PEER_UNREACHABLE && (rc == -EAGAIN || !peer_idle(p)))
        sk_peer_schedule(ep, p);
}

static void flush(sk_endpoint *ep)
{
    sk_list pending, *at;
    sk_list_init(&pending);
    sk_list_splice(&pending, &ep->scheduled);
    while ((at = sk_list_pop(&pending)))
        peer_flush(ep, SK_LIST_ENTRY(at, sk_peer, scheduled));
    sk_list_splice(&pending, &ep->retry);
    while ((at = sk_list_pop(&pending)))
        sk_rendezvous_resume(ep, SK_LIST_ENTRY(at, sk_recv_req, retry));
}

int sk_endpoint_progress(sk_endpoint *ep)
{
    int n = 0;
    if (ep->shm.lane)
        n = ep->shm.lane->ops->poll(ep->shm.lane);
    if (ep->core.lane) {
        n += ep->core.lane->ops->poll(ep->core.lane);
        if (SK_UNLIKELY(++ep->polls % KEEPALIVE_POLLS == 0))
            sk_keepalive(ep);
    }
    if (SK_UNLIKELY(!sk_list_empty(&ep->scheduled) || !sk_list_empty(&ep->retry)))
        flush(ep);
    return n;
}
