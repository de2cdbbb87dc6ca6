/* arrive.c: a message has come and meets its receive, or waits for it. */
#include <string.h>

#include "fabric/endpoint.h"

bool sk_ep_match(sk_ep *ep)
{
    if (ep->matcher)
        return true;
    const sk_config *c = &ep->domain->config;
    uint64_t nranks = ep->av->count > ep->av->nknown ? ep->av->count : ep->av->nknown;
    sk_match_config config = {
        .nranks = nranks < UINT32_MAX ? (uint32_t)nranks : UINT32_MAX,
        .kc = c->kc,
        .kp = c->kp,
        .theta = c->theta,
        .trace = sk_report_trace(ep, (uint32_t)nranks),
    };
    return sk_matcher_new(c->engine, &config, &ep->matcher) == SK_OK;
}

static sk_msg *arrive_msg(sk_ep *ep, sk_peer *p, const sk_packet *head)
{
    sk_msg *m = sk_pool_get(&ep->msg_pool);
    if (SK_UNLIKELY(!m))
        return NULL;
    m->item.tag = head->tag;
    m->item.ignore = 0;
    m->item.source = p->number;
    m->item.nranks = head->nranks;
    m->item.call = head->call;
    m->item.kind = sk_kind_came(head);
    m->item.size = head->size_class;
    m->peer = p;
    m->len = head->len;
    m->data = head->data;
    m->flags = head->flags;
    m->lost = false;
    m->buffer = NULL;
    return m;
}

static void arrive_wait(sk_ep *ep, sk_msg *m, const void *payload)
{
    void *to = m->bytes;
    if (m->len > SK_INLINE)
        to = m->buffer = sk_buffers_get(&ep->buffers, m->len);
    m->lost = !to;
    if (to && m->len)
        memcpy(to, payload, m->len);
}

void sk_arrive_eager(sk_ep *ep, sk_peer *p, const sk_packet *head, const void *payload)
{
    uint64_t cost = sk_credit_cost(head->len);
    sk_msg *m = arrive_msg(ep, p, head);
    if (SK_UNLIKELY(!m || !sk_ep_match(ep))) {
        sk_peer_lose(ep, p, FI_ENOMEM);
        return;
    }
    if (SK_UNLIKELY(!sk_credit_take(ep, p, cost))) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA, "endpoint %016llx sends more than it may\n",
                (unsigned long long)p->id);
        sk_pool_put(&ep->msg_pool, m);
        sk_peer_lose(ep, p, FI_EIO);
        return;
    }
    m->offer = false;
    sk_match_item *found = sk_matcher_deliver(ep->matcher, &m->item);
    if (!found) {
        arrive_wait(ep, m, payload);
        return;
    }
    sk_recv_eager(ep, (sk_recv *)found, m, payload);
    sk_pool_put(&ep->msg_pool, m);
    sk_credit_give(ep, p, cost);
}

void sk_arrive_offer(sk_ep *ep, sk_peer *p, const sk_packet *head, sk_lane *lane)
{
    sk_msg *m = arrive_msg(ep, p, head);
    if (SK_UNLIKELY(!m || !sk_ep_match(ep))) {
        sk_peer_lose(ep, p, FI_ENOMEM);
        return;
    }
    if (!p->welcomed) {
        sk_credit_welcome(ep, p);
        sk_credit_send(ep, p);
    }
    m->offer = true;
    m->token = head->token;
    m->source = (sk_lane_source){head->offset, head->key, head->len};
    m->lane = lane;
    sk_match_item *found = sk_matcher_deliver(ep->matcher, &m->item);
    if (found)
        sk_take_start(ep, (sk_recv *)found, m);
}
