/* send.c: a message goes out. Short ones go at once, data and all, as long as there is credit at
 * the receiver; others are offered (offer.c). What the lane has no room for now waits at its peer,
 * and all that is called after it for the same peer, so that nothing is overtaken. */
#include <string.h>

#include "fabric/endpoint.h"

/* With these, completion waits for the receiver. */
#define AT_TARGET (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)

void sk_send_complete(sk_ep *ep, void *context, uint64_t flags)
{
    sk_cq *cq = ep->tx.cq;
    if (!(flags & FI_COMPLETION)) {
        sk_cq_release(cq);
        return;
    }
    sk_entry *at = sk_cq_push(cq);
    at->e = (struct fi_cq_tagged_entry){.op_context = context, .flags = FI_TAGGED | FI_SEND};
    at->from = FI_ADDR_NOTAVAIL;
    at->err = NULL;
}

/* Who gave no context and wants no completion could not make anything of an error. */
static void send_error(sk_ep *ep, const sk_send *s, int err)
{
    FI_WARN(&sk_provider, FI_LOG_EP_DATA,
            "a message of %llu bytes to endpoint %016llx failed: %s\n", (unsigned long long)s->len,
            (unsigned long long)s->peer->id, fi_strerror(err));
    if (!s->context && !(s->flags & FI_COMPLETION)) {
        sk_cq_release(ep->tx.cq);
        return;
    }
    struct fi_cq_err_entry entry = {.op_context = s->context,
                                    .flags = FI_TAGGED | FI_SEND,
                                    .tag = s->head.tag,
                                    .err = err,
                                    .prov_errno = err};
    sk_cq_push_error(ep->tx.cq, &entry);
}

static void send_free(sk_ep *ep, sk_send *s)
{
    if (sk_chain_in(&s->chain))
        sk_chain_remove(&s->chain);
    if (s->head.token)
        sk_handles_remove(&ep->sends, s->head.token);
    if (s->is_exposed)
        s->peer->lane->ops->unexport(s->peer->lane, s->exposed);
    if (s->copy) {
        sk_buffers_put(&ep->buffers, s->copy, s->len);
        ep->copied -= sk_buffers_room(s->len);
    }
    sk_pool_put(&ep->send_pool, s);
}

void sk_send_end(sk_ep *ep, sk_send *s, int err)
{
    if (err)
        send_error(ep, s, err);
    else
        sk_send_complete(ep, s->context, s->flags);
    send_free(ep, s);
}

static bool send_fits(const sk_peer *p, uint64_t len, uint64_t flags)
{
    return len <= p->eager && sk_credit_cost(len) <= p->credit && !(flags & AT_TARGET);
}

int sk_send_go(sk_ep *ep, sk_send *s)
{
    sk_peer *p = s->peer;
    if (s->head.token || !send_fits(p, s->len, s->flags)) /* once an offer, always one */
        return sk_offer_make(ep, s);
    s->head.type = SK_PACKET_EAGER;
    int rc = sk_peer_transmit(ep, p, &s->head, s->iov, s->niov);
    if (rc != 0)
        return rc;
    p->credit -= sk_credit_cost(s->len);
    sk_send_end(ep, s, 0);
    return 0;
}

static int send_copy(sk_ep *ep, sk_send *s, const sk_want *w)
{
    size_t room = sk_buffers_room(w->len);
    if (ep->copied + room > ep->domain->config.unexpected + SK_FIRST_CREDIT)
        return -FI_EAGAIN;
    char *copy = sk_buffers_get(&ep->buffers, w->len);
    if (!copy)
        return -FI_ENOMEM;
    size_t at = 0;
    for (size_t i = 0; i < w->niov; at += w->iov[i++].iov_len)
        memcpy(copy + at, w->iov[i].iov_base, w->iov[i].iov_len);
    s->copy = copy;
    s->iov[0] = (struct iovec){copy, w->len};
    s->niov = 1;
    ep->copied += room;
    return 0;
}

static int send_new(sk_ep *ep, sk_peer *p, const sk_want *w, const sk_packet *head, sk_send **out)
{
    int rc = 0;
    sk_send *s = sk_pool_get(&ep->send_pool);
    if (!s)
        return -FI_ENOMEM;
    *s = (sk_send){.peer = p,
                   .context = w->context,
                   .flags = w->flags,
                   .niov = (uint8_t)w->niov,
                   .len = w->len,
                   .head = *head};
    for (size_t i = 0; i < w->niov; i++)
        s->iov[i] = w->iov[i];
    if (w->flags & FI_INJECT && w->len)
        rc = send_copy(ep, s, w);
    if (rc == 0)
        *out = s;
    else
        sk_pool_put(&ep->send_pool, s);
    return rc;
}

int sk_send_offer(sk_ep *ep, sk_peer *p, const sk_want *w, const sk_packet *head, sk_send **out)
{
    sk_send *s = NULL;
    int rc = send_new(ep, p, w, head, &s);
    if (rc != 0)
        return rc;
    s->head.token = sk_handles_add(&ep->sends, s);
    if (!s->head.token) {
        send_free(ep, s);
        return -FI_ENOMEM;
    }
    s->head.type = SK_PACKET_OFFER;
    s->head.len = s->len;
    s->state = SK_SEND_OFFERED;
    sk_chain_append(&p->offers, &s->chain);
    *out = s;
    return 0;
}

/* The long way: no credit, no room, a long message, or others wait before it. */
static int send_slowly(sk_ep *ep, sk_peer *p, const sk_want *w, const sk_packet *head)
{
    sk_send *s = NULL;
    if (w->len <= p->eager) /* credit may have come, or room */
        sk_ep_progress(ep);
    if (p->state != SK_PEER_HERE)
        return -FI_ECONNRESET;
    int rc = send_new(ep, p, w, head, &s);
    if (rc != 0)
        return rc;
    rc = sk_chain_empty(&p->sends) ? sk_send_go(ep, s) : -EAGAIN;
    if (rc == -EAGAIN) {
        sk_chain_append(&p->sends, &s->chain);
        sk_peer_busy(ep, p);
        return 0;
    }
    if (rc != 0)
        send_free(ep, s);
    return rc;
}

static inline int send_to(sk_ep *ep, fi_addr_t addr, sk_peer **out)
{
    const sk_av *av = ep->av;
    uint32_t number = addr < av->naddrs ? av->number[addr] : SK_NOBODY;
    if (number < ep->npeers && ep->peer[number] && ep->peer[number]->state == SK_PEER_HERE) {
        *out = ep->peer[number];
        return 0;
    }
    return sk_ep_peer_at(ep, addr, out);
}

int sk_ep_send(sk_ep *ep, const sk_want *w)
{
    sk_peer *p = NULL;
    int rc = send_to(ep, w->addr, &p);
    if (SK_UNLIKELY(rc != 0))
        return rc;
    if (SK_UNLIKELY(!sk_cq_promise(ep->tx.cq)))
        return -FI_ENOMEM;
    sk_packet head = {.type = SK_PACKET_EAGER, .data = (uint32_t)w->data, .tag = w->tag};
    if (w->flags & FI_REMOTE_CQ_DATA)
        head.flags = SK_PACKET_HAS_DATA;
    sk_kind_send(&ep->kinds, w->len, &head);
    bool own = head.flags & SK_PACKET_OWN;
    if (ep->own_contexts && w->context)
        ((struct fi_context *)w->context)->internal[0] = NULL;
    if (p->state == SK_PEER_SELF) {
        rc = sk_self_send(ep, p, w, &head);
    } else {
        rc = sk_chain_empty(&p->sends) && send_fits(p, w->len, w->flags)
                 ? sk_peer_transmit(ep, p, &head, w->iov, w->niov)
                 : -EAGAIN;
        if (rc == 0) {
            p->credit -= sk_credit_cost(w->len);
            sk_send_complete(ep, w->context, w->flags);
        } else if (rc == -EAGAIN) {
            rc = send_slowly(ep, p, w, &head);
        }
    }
    if (SK_UNLIKELY(rc != 0)) {
        sk_cq_release(ep->tx.cq);
        return -sk_lane_error(rc);
    }
    if (own)
        sk_kind_accept(&ep->kinds);
    return 0;
}
