/* fail.c: a peer is gone. Whatever waits for it ends with an error, so that nobody waits for ever:
 * messages to it, receives that only it could serve, data on its way. Messages that have come stay
 * and can be received, as far as their data has come too. */
#include "fabric/endpoint.h"

static void lose_sends(sk_ep *ep, sk_chain *list, int err)
{
    while (!sk_chain_empty(list))
        sk_send_end(ep, SK_CHAINED(list->next, sk_send, chain), err);
}

static void lose_notes(sk_ep *ep, sk_peer *p)
{
    for (sk_chain *at = p->notes.next, *next; at != &p->notes; at = next) {
        next = at->next;
        sk_pool_put(&ep->note_pool, SK_CHAINED(at, sk_note, chain));
    }
    sk_chain_init(&p->notes);
}

/* Reads under way are left: the lane tells of their end, and writes into their buffers until then.
 */
static void lose_takes(sk_ep *ep, sk_peer *p, int err)
{
    for (sk_chain *at = p->takes.next, *next; at != &p->takes; at = next) {
        sk_recv *r = SK_CHAINED(at, sk_recv, chain);
        next = at->next;
        if (!r->reading)
            sk_recv_end(ep, r, err);
    }
}

static void lose_posted(sk_ep *ep, uint32_t source, int err)
{
    if (!ep->matcher)
        return;
    sk_match_item *at = sk_matcher_next(ep->matcher, SK_POSTED, NULL);
    while (at) {
        sk_match_item *next = sk_matcher_next(ep->matcher, SK_POSTED, at);
        if (at->source == source && sk_matcher_cancel(ep->matcher, at))
            sk_recv_fail(ep, (sk_recv *)at, err);
        at = next;
    }
}

void sk_peer_lose(sk_ep *ep, sk_peer *p, int err)
{
    if (p->state == SK_PEER_GONE || p->state == SK_PEER_SELF)
        return;
    FI_INFO(&sk_provider, FI_LOG_EP_DATA, "endpoint %016llx is gone: %s\n",
            (unsigned long long)p->id, fi_strerror(err));
    p->state = SK_PEER_GONE;
    ep->ngone++;
    if (sk_chain_in(&p->busy))
        sk_chain_remove(&p->busy);
    lose_notes(ep, p);
    lose_sends(ep, &p->streams, err);
    lose_sends(ep, &p->offers, err);
    lose_sends(ep, &p->sends, err);
    lose_takes(ep, p, err);
    lose_posted(ep, p->number, err);
}

void sk_ep_gone(void *port, uint64_t id, int status)
{
    sk_ep *ep = ((sk_port *)port)->ep;
    sk_peer *p = sk_ep_peer(ep, sk_av_number(ep->av, id));
    if (p)
        sk_peer_lose(ep, p, sk_lane_error(status));
}
