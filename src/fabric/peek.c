/* peek.c: receives that only look (FI_PEEK), and those that get a message which such a one has kept
 * for them (FI_CLAIM). The message hangs on the context, which both have in common. */
#include "fabric/endpoint.h"

static void peek_nothing(sk_ep *ep, const sk_want *w)
{
    struct fi_cq_err_entry entry = {.op_context = w->context,
                                    .flags = FI_TAGGED | FI_RECV,
                                    .tag = w->tag,
                                    .err = FI_ENOMSG,
                                    .prov_errno = FI_ENOMSG};
    sk_cq_push_error(ep->rx.cq, &entry);
}

static void peek_found(sk_ep *ep, const sk_want *w, const sk_msg *m)
{
    if (!(w->flags & FI_COMPLETION)) {
        sk_cq_release(ep->rx.cq);
        return;
    }
    uint64_t flags = FI_TAGGED | FI_RECV;
    if (m->flags & SK_PACKET_HAS_DATA)
        flags |= FI_REMOTE_CQ_DATA;
    sk_entry *at = sk_cq_push(ep->rx.cq);
    at->e = (struct fi_cq_tagged_entry){.op_context = w->context,
                                        .flags = flags,
                                        .len = m->len,
                                        .data = m->data,
                                        .tag = m->item.tag};
    at->from = ep->sources ? ep->av->known[m->item.source].addr : FI_ADDR_NOTAVAIL;
    at->err = NULL;
}

/* Nobody will receive it. */
static void peek_discard(sk_ep *ep, sk_msg *m)
{
    if (m->offer) {
        sk_take_refuse(ep, m);
        return;
    }
    sk_peer *p = m->peer;
    uint64_t cost = sk_credit_cost(m->len);
    sk_msg_free(ep, m);
    sk_credit_give(ep, p, cost);
}

int sk_ep_peek(sk_ep *ep, const sk_want *w)
{
    bool own;
    sk_match_item item = {0};
    if (w->flags & FI_CLAIM && !w->context)
        return -FI_EINVAL;
    if (!sk_ep_match(ep))
        return -FI_ENOMEM;
    int rc = sk_recv_item(ep, w, &item, &own);
    if (rc != 0)
        return rc;
    if (!sk_cq_promise(ep->rx.cq))
        return -FI_ENOMEM;
    if (own)
        sk_kind_accept(&ep->kinds);
    sk_ep_progress(ep); /* who looks again and again must see what comes */
    sk_msg *m = (sk_msg *)sk_matcher_peek(ep->matcher, &item);
    if (!m) {
        peek_nothing(ep, w);
        return 0;
    }
    peek_found(ep, w, m);
    if (w->flags & (FI_CLAIM | FI_DISCARD))
        sk_matcher_claim(ep->matcher, &m->item);
    if (w->flags & FI_DISCARD) {
        peek_discard(ep, m);
    } else if (w->flags & FI_CLAIM) {
        sk_chain_append(&ep->claimed, &m->claimed);
        ((struct fi_context *)w->context)->internal[0] = m;
    }
    return 0;
}

int sk_ep_claimed(sk_ep *ep, const sk_want *w)
{
    struct fi_context *context = w->context;
    sk_msg *m = context ? context->internal[0] : NULL;
    if (!m)
        return -FI_EINVAL;
    sk_recv *r = w->flags & FI_DISCARD ? NULL : sk_recv_new(ep, w);
    if (w->flags & FI_DISCARD ? !sk_cq_promise(ep->rx.cq) : !r)
        return -FI_ENOMEM;
    context->internal[0] = NULL;
    sk_chain_remove(&m->claimed);
    if (r) {
        r->item.source = m->item.source;
        sk_recv_met(ep, r, m);
        return 0;
    }
    peek_found(ep, w, m);
    peek_discard(ep, m);
    return 0;
}
