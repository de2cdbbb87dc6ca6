/* recv.c: receives, from their call to their completion. */
#include <string.h>

#include "fabric/endpoint.h"

/* What a completion tells of the message. */
typedef struct arrived {
    uint64_t tag, len;
    uint32_t data, source;
    uint8_t flags; /* of sk_packet */
} arrived;

static void recv_error(sk_ep *ep, const sk_recv *r, const arrived *a, uint64_t flags, int err)
{
    struct fi_cq_err_entry entry = {
        .op_context = r->context,
        .flags = flags,
        .len = a->len < r->room ? a->len : r->room,
        .buf = r->niov ? r->iov[0].iov_base : NULL,
        .data = a->data,
        .tag = a->tag,
        .olen = a->len > r->room ? a->len - r->room : 0,
        .err = err,
        .prov_errno = err,
    };
    sk_cq_push_error(ep->rx.cq, &entry);
}

static void recv_complete(sk_ep *ep, sk_recv *r, const arrived *a, int err)
{
    sk_cq *cq = ep->rx.cq;
    uint64_t flags = FI_TAGGED | FI_RECV;
    if (a->flags & SK_PACKET_HAS_DATA)
        flags |= FI_REMOTE_CQ_DATA;
    if (ep->own_contexts) {
        if (r->context)
            ((struct fi_context *)r->context)->internal[0] = NULL;
    } else {
        sk_contexts_remove(ep, r);
    }
    if (SK_UNLIKELY(!err && a->len > r->room))
        err = FI_ETRUNC;
    if (SK_UNLIKELY(err)) {
        recv_error(ep, r, a, flags, err);
    } else if (r->flags & FI_COMPLETION) {
        sk_entry *at = sk_cq_push(cq);
        at->e = (struct fi_cq_tagged_entry){.op_context = r->context,
                                            .flags = flags,
                                            .len = a->len,
                                            .buf = r->niov ? r->iov[0].iov_base : NULL,
                                            .data = a->data,
                                            .tag = a->tag};
        at->from = ep->sources ? ep->av->known[a->source].addr : FI_ADDR_NOTAVAIL;
        at->err = NULL;
    } else {
        sk_cq_release(cq);
    }
    sk_pool_put(&ep->recv_pool, r);
}

void sk_recv_end(sk_ep *ep, sk_recv *r, int err)
{
    arrived a = {.tag = r->tag,
                 .len = r->len,
                 .data = r->data,
                 .source = r->peer ? r->peer->number : 0,
                 .flags = r->msg_flags};
    if (r->answer)
        sk_handles_remove(&ep->recvs, r->answer);
    if (sk_chain_in(&r->chain))
        sk_chain_remove(&r->chain);
    if (sk_chain_in(&r->again))
        sk_chain_remove(&r->again);
    recv_complete(ep, r, &a, err);
}

void sk_recv_store(const sk_recv *r, uint64_t at, const void *from, size_t len)
{
    const char *bytes = from;
    for (size_t i = 0; i < r->niov && len; i++) {
        size_t here = r->iov[i].iov_len;
        if (at >= here) {
            at -= here;
            continue;
        }
        size_t take = here - at < len ? here - at : len;
        memcpy((char *)r->iov[i].iov_base + at, bytes, take);
        bytes += take;
        len -= take;
        at = 0;
    }
}

void sk_recv_eager(sk_ep *ep, sk_recv *r, const sk_msg *m, const void *payload)
{
    arrived a = {.tag = m->item.tag,
                 .len = m->len,
                 .data = m->data,
                 .source = m->item.source,
                 .flags = m->flags};
    size_t len = m->len < r->room ? m->len : r->room;
    if (r->niov == 1 && len && !m->lost)
        memcpy(r->iov[0].iov_base, payload, len);
    else if (!m->lost)
        sk_recv_store(r, 0, payload, len);
    recv_complete(ep, r, &a, m->lost ? FI_ENOMEM : 0);
}

const void *sk_msg_bytes(const sk_msg *m)
{
    return m->buffer ? m->buffer : m->bytes;
}

void sk_msg_free(sk_ep *ep, sk_msg *m)
{
    if (!m->offer && m->buffer)
        sk_buffers_put(&ep->buffers, m->buffer, m->len);
    sk_pool_put(&ep->msg_pool, m);
}

void sk_recv_met(sk_ep *ep, sk_recv *r, sk_msg *m)
{
    if (m->offer) {
        sk_take_start(ep, r, m);
        return;
    }
    sk_peer *p = m->peer;
    uint64_t cost = sk_credit_cost(m->len);
    sk_recv_eager(ep, r, m, sk_msg_bytes(m));
    sk_msg_free(ep, m);
    sk_credit_give(ep, p, cost);
}

int sk_recv_item(sk_ep *ep, const sk_want *w, sk_match_item *item, bool *own)
{
    item->tag = w->tag & ~w->ignore;
    item->ignore = w->ignore;
    item->source = SK_ANY_SOURCE;
    if (ep->directed && w->addr != FI_ADDR_UNSPEC) {
        if (w->addr >= ep->av->naddrs || ep->av->number[w->addr] == SK_NOBODY)
            return -FI_EINVAL;
        item->source = ep->av->number[w->addr];
    }
    *own = sk_kind_recv(&ep->kinds, w->len, item);
    return 0;
}

sk_recv *sk_recv_new(sk_ep *ep, const sk_want *w)
{
    if (SK_UNLIKELY(!sk_cq_promise(ep->rx.cq)))
        return NULL;
    sk_recv *r = sk_pool_get(&ep->recv_pool);
    if (SK_UNLIKELY(!r)) {
        sk_cq_release(ep->rx.cq);
        return NULL;
    }
    r->context = w->context;
    r->room = w->len;
    r->flags = w->flags;
    r->niov = (uint8_t)w->niov;
    for (size_t i = 0; i < w->niov; i++)
        r->iov[i] = w->iov[i];
    r->listed = false;
    r->answer = 0;
    r->peer = NULL;
    r->chain.next = r->again.next = NULL;
    r->reading = false;
    return r;
}

void sk_recv_drop(sk_ep *ep, sk_recv *r)
{
    sk_cq_release(ep->rx.cq);
    sk_pool_put(&ep->recv_pool, r);
}

/* A receive that only a peer which is gone could serve, and that nothing is there for. */
static bool recv_hopeless(const sk_ep *ep, const sk_recv *r)
{
    uint32_t source = r->item.source;
    return SK_UNLIKELY(ep->ngone) && source < ep->npeers && ep->peer[source] &&
           ep->peer[source]->state == SK_PEER_GONE;
}

void sk_recv_fail(sk_ep *ep, sk_recv *r, int err)
{
    arrived a = {.tag = r->item.tag};
    recv_complete(ep, r, &a, err);
}

int sk_ep_recv(sk_ep *ep, const sk_want *w)
{
    bool own;
    if (SK_UNLIKELY(!ep->matcher) && !sk_ep_match(ep))
        return -FI_ENOMEM;
    sk_recv *r = sk_recv_new(ep, w);
    if (SK_UNLIKELY(!r))
        return -FI_ENOMEM;
    int rc = sk_recv_item(ep, w, &r->item, &own);
    if (rc == 0 && !ep->own_contexts && !sk_contexts_add(ep, r))
        rc = -FI_ENOMEM;
    if (SK_UNLIKELY(rc != 0)) {
        sk_recv_drop(ep, r);
        return rc;
    }
    if (ep->own_contexts && w->context)
        ((struct fi_context *)w->context)->internal[0] = r;
    sk_match_item *found = sk_matcher_post(ep->matcher, &r->item);
    if (found)
        sk_recv_met(ep, r, (sk_msg *)found);
    else if (recv_hopeless(ep, r) && sk_matcher_cancel(ep->matcher, &r->item))
        sk_recv_fail(ep, r, FI_ECONNRESET);
    if (own)
        sk_kind_accept(&ep->kinds);
    return 0;
}

ssize_t sk_ep_cancel(fid_t fid, void *context)
{
    sk_ep *ep = container_of(fid, sk_ep, fid.fid);
    ssize_t rc = -FI_ENOENT;
    sk_recv *r;
    sk_domain_lock(ep->domain);
    if (!ep->own_contexts)
        r = sk_contexts_find(ep, context);
    else
        r = context ? ((struct fi_context *)context)->internal[0] : NULL;
    if (r && ep->matcher && sk_matcher_cancel(ep->matcher, &r->item)) {
        sk_recv_fail(ep, r, FI_ECANCELED);
        rc = 0;
    }
    sk_domain_unlock(ep->domain);
    return rc;
}
