/* recv.c: receives: posted ones, probes (FI_PEEK), those that get a message which a probe has kept
 * for them (FI_CLAIM), and their cancellation. A claimed message is found by
 * the context that probe and claim have in common. */
#include "fabric/proto/endpoint.h"

/* Fill in the matching part of a receive. *own: it belongs to the preload library. */
static int recv_item(sk_endpoint *ep, const sk_endpoint_call *c, sk_match_item *item, bool *own)
{
    item->tag = c->tag & ~c->ignore;
    item->ignore = c->ignore;
    item->source = SK_ANY_SOURCE;
    if (ep->directed && c->addr != FI_ADDR_UNSPEC) {
        item->source = sk_id_at(ep->ids, c->addr);
        if (item->source == SK_NO_ID)
            return -FI_EINVAL;
    }
    if (SK_UNLIKELY(c->flags & FI_MSG)) {
        item->nranks = item->call = 0;
        item->kind = SK_P2P;
        item->size = 0;
        *own = false;
    } else {
        *own = sk_kind_recv(&ep->kinds, c->len, item);
    }
    return 0;
}

/* A receive has found its message; m is freed. */
static void recv_match(sk_endpoint *ep, sk_recv_req *r, sk_msg *m)
{
    if (m->rendezvous)
        sk_rendezvous_receive(ep, r, m);
    else
        sk_eager_receive(ep, r, m);
}

/* Only a peer that is gone could match this receive. */
static bool recv_hopeless(const sk_endpoint *ep, const sk_recv_req *r)
{
    uint32_t source = r->item.source;
    return SK_UNLIKELY(ep->ngone) && source < ep->npeers && ep->peer[source] &&
           ep->peer[source]->state == SK_PEER_GONE;
}

int sk_endpoint_recv(sk_endpoint *ep, const sk_endpoint_call *c)
{
    bool own;
    sk_matcher *matcher = sk_matching_get(ep, sk_queue_of_call(c->flags));
    if (SK_UNLIKELY(!matcher))
        return -FI_ENOMEM;
    sk_recv_req *r = sk_recv_new(ep, c);
    if (SK_UNLIKELY(!r))
        return -FI_ENOMEM;
    int rc = recv_item(ep, c, &r->item, &own);
    if (rc == 0 && !ep->own_contexts && !sk_context_add(ep, r))
        rc = -FI_ENOMEM;
    if (SK_UNLIKELY(rc != 0)) {
        sk_recv_drop(ep, r);
        return rc;
    }
    if (ep->own_contexts && c->context)
        ((struct fi_context *)c->context)->internal[0] = r;
    sk_match_item *found = sk_matcher_post(matcher, &r->item);
    if (found)
        recv_match(ep, r, (sk_msg *)found);
    else if (recv_hopeless(ep, r) && sk_matcher_cancel(matcher, &r->item))
        sk_recv_fail(ep, r, FI_ECONNRESET);
    if (own)
        sk_kind_accept(&ep->kinds);
    return 0;
}

int sk_endpoint_cancel(sk_endpoint *ep, void *context)
{
    sk_recv_req *r;
    if (!ep->own_contexts)
        r = sk_context_find(ep, context);
    else
        r = context ? ((struct fi_context *)context)->internal[0] : NULL;
    if (!r || r->item.side != SK_POSTED ||
        !sk_matcher_cancel(ep->matcher[sk_queue_of_call(r->flags)], &r->item))
        return -FI_ENOENT;
    sk_recv_fail(ep, r, FI_ECANCELED);
    return 0;
}

/* --- probe and claim --- */

static void probe_nothing(sk_endpoint *ep, const sk_endpoint_call *c)
{
    struct fi_cq_err_entry entry = {.op_context = c->context,
                                    .flags = FI_TAGGED | FI_RECV,
                                    .tag = c->tag,
                                    .err = FI_ENOMSG,
                                    .prov_errno = FI_ENOMSG};
    sk_completion_push_error(ep->rx, &entry);
}

static void probe_found(sk_endpoint *ep, const sk_endpoint_call *c, const sk_msg *m)
{
    if (!(c->flags & FI_COMPLETION)) {
        sk_completion_unreserve(ep->rx);
        return;
    }
    uint64_t flags = FI_TAGGED | FI_RECV;
    if (m->flags & SK_PACKET_HAS_DATA)
        flags |= FI_REMOTE_CQ_DATA;
    sk_completion *at = sk_completion_push(ep->rx);
    at->e = (struct fi_cq_tagged_entry){.op_context = c->context,
                                        .flags = flags,
                                        .len = m->len,
                                        .data = m->data,
                                        .tag = m->item.tag};
    at->from = ep->sources ? ep->ids->entry[m->item.source].addr : FI_ADDR_NOTAVAIL;
    at->err = NULL;
}

/* Nobody will receive the message. */
static void msg_discard(sk_endpoint *ep, sk_msg *m)
{
    if (m->rendezvous)
        sk_rendezvous_discard(ep, m);
    else
        sk_eager_discard(ep, m);
}

int sk_endpoint_probe(sk_endpoint *ep, const sk_endpoint_call *c)
{
    bool own;
    sk_match_item item = {0};
    if (c->flags & FI_CLAIM && !c->context)
        return -FI_EINVAL;
    sk_matcher *matcher = sk_matching_get(ep, SK_TAGGED);
    if (!matcher)
        return -FI_ENOMEM;
    int rc = recv_item(ep, c, &item, &own);
    if (rc != 0)
        return rc;
    if (!sk_completion_reserve(ep->rx))
        return -FI_ENOMEM;
    if (own)
        sk_kind_accept(&ep->kinds);
    sk_endpoint_progress(ep); /* a caller that probes in a loop must see what arrives */
    sk_msg *m = (sk_msg *)sk_matcher_probe(matcher, &item);
    if (!m) {
        probe_nothing(ep, c);
        return 0;
    }
    probe_found(ep, c, m);
    if (c->flags & (FI_CLAIM | FI_DISCARD))
        sk_matcher_claim(matcher, &m->item);
    if (c->flags & FI_DISCARD) {
        msg_discard(ep, m);
    } else if (c->flags & FI_CLAIM) {
        sk_list_append(&ep->claimed, &m->claimed);
        ((struct fi_context *)c->context)->internal[0] = m;
    }
    return 0;
}

int sk_endpoint_claim(sk_endpoint *ep, const sk_endpoint_call *c)
{
    struct fi_context *context = c->context;
    sk_msg *m = context ? context->internal[0] : NULL;
    if (!m)
        return -FI_EINVAL;
    sk_recv_req *r = c->flags & FI_DISCARD ? NULL : sk_recv_new(ep, c);
    if (c->flags & FI_DISCARD ? !sk_completion_reserve(ep->rx) : !r)
        return -FI_ENOMEM;
    context->internal[0] = NULL;
    sk_list_remove(&m->claimed);
    if (r) {
        r->item.source = m->item.source;
        recv_match(ep, r, m);
        return 0;
    }
    probe_found(ep, c, m);
    msg_discard(ep, m);
    return 0;
}
