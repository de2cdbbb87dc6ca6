/* ep_life.c: what an endpoint needs between fi_enable and fi_close: its lanes and its memory. */
#include <stdlib.h>
#include <time.h>

#include "fabric/endpoint.h"

enum { LEAST_PACKET = 8192, KEEP = 16 << 20, LINGER_MS = 1000 };

static int lane_open(sk_ep *ep, sk_port *port, const sk_lane_ops *ops)
{
    const sk_config *c = &ep->domain->config;
    size_t data = c->eager > LEAST_PACKET ? c->eager : LEAST_PACKET;
    sk_lane_config config = {
        .id = ep->id,
        .events = {port, sk_ep_packet, sk_take_read, sk_ep_gone, sk_ep_glance},
        .core_provider = c->inner,
        .max_packet = sizeof(sk_packet) + data,
        .cma = c->direct,
    };
    port->ep = ep;
    int rc = ops->open(&port->lane, &config);
    if (rc != 0) {
        port->lane = NULL;
        FI_INFO(&sk_provider, FI_LOG_EP_CTRL, "no lane by %s: %s\n", ops->name, fi_strerror(-rc));
    }
    return rc;
}

static void lane_close(sk_port *port)
{
    if (port->lane)
        port->lane->ops->close(port->lane);
    port->lane = NULL;
}

/* The name of a lane; one that has none that fits is of no use. */
static size_t lane_name(sk_port *port, void *name, size_t room)
{
    if (!port->lane)
        return 0;
    int rc = port->lane->ops->get_name(port->lane, name, &room);
    if (rc == 0)
        return room;
    FI_WARN(&sk_provider, FI_LOG_EP_CTRL, "no name for %s: %s\n", port->lane->ops->name,
            fi_strerror(-rc));
    lane_close(port);
    return 0;
}

static int ep_open_lanes(sk_ep *ep)
{
    unsigned char shm[SK_ADDRESS_NAMES], inner[SK_ADDRESS_NAMES];
    int rc;
    ep->id = sk_address_id();
    if (!ep->id)
        return -FI_EIO;
    if (ep->domain->config.shm)
        lane_open(ep, &ep->shm, &sk_lane_shm);
    rc = lane_open(ep, &ep->inner, &sk_lane_core);
    size_t shm_len = lane_name(&ep->shm, shm, sizeof shm);
    size_t inner_len = lane_name(&ep->inner, inner, sizeof inner - shm_len);
    if (!ep->shm.lane && !ep->inner.lane) {
        FI_WARN(&sk_provider, FI_LOG_EP_CTRL, "neither shared memory nor an inner provider: %s\n",
                fi_strerror(-rc));
        return rc;
    }
    if (rc != 0 && *ep->domain->config.inner) {
        FI_WARN(&sk_provider, FI_LOG_EP_CTRL, "the inner provider %s cannot be used: %s\n",
                ep->domain->config.inner, fi_strerror(-rc));
        return rc;
    }
    return sk_address_make(&ep->name, ep->id, sk_address_node(), shm, shm_len, inner, inner_len) ==
                   SK_OK
               ? 0
               : -FI_EIO;
}

int sk_ep_enable(sk_ep *ep)
{
    if (ep->enabled)
        return 0;
    if (!ep->av)
        return -FI_ENOAV;
    if ((ep->caps & FI_SEND && !ep->tx.cq) || (ep->caps & FI_RECV && !ep->rx.cq))
        return -FI_ENOCQ;
    int rc = ep_open_lanes(ep);
    if (rc != 0) {
        lane_close(&ep->shm);
        lane_close(&ep->inner);
        return rc;
    }
    sk_kinds_init(&ep->kinds);
    sk_pool_init(&ep->send_pool, sizeof(sk_send));
    sk_pool_init(&ep->recv_pool, sizeof(sk_recv));
    sk_pool_init(&ep->msg_pool, sizeof(sk_msg));
    sk_pool_init(&ep->note_pool, sizeof(sk_note));
    sk_buffers_init(&ep->buffers, KEEP);
    ep->tx.live = ep->tx.cq != NULL;
    ep->rx.live = ep->rx.cq != NULL;
    ep->enabled = true;
    return 0;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Is anything left to send to a peer that can be reached? */
static bool ep_owes(const sk_ep *ep)
{
    for (const sk_chain *at = ep->busy.next; at != &ep->busy; at = at->next)
        if (SK_CHAINED(at, sk_peer, busy)->state == SK_PEER_HERE)
            return true;
    return false;
}

/* Others may wait for answers that are still here: they go out, if that does not take long. */
static void ep_linger(sk_ep *ep)
{
    int64_t end = now_ms() + LINGER_MS;
    while (ep_owes(ep) && now_ms() < end)
        sk_ep_progress(ep);
}

static void ep_drop_queues(sk_ep *ep)
{
    sk_match_item *at = NULL, *next;
    sk_chain *claimed;
    for (int side = 0; ep->matcher && side < SK_NSIDES; side++) {
        for (at = sk_matcher_next(ep->matcher, (sk_match_side)side, NULL); at; at = next) {
            next = sk_matcher_next(ep->matcher, (sk_match_side)side, at);
            if (side == SK_POSTED && sk_matcher_cancel(ep->matcher, at))
                sk_recv_drop(ep, (sk_recv *)at);
            else if (side == SK_UNEXPECTED) {
                sk_matcher_claim(ep->matcher, at);
                sk_msg_free(ep, (sk_msg *)at);
            }
        }
    }
    while ((claimed = sk_chain_pop(&ep->claimed)))
        sk_msg_free(ep, SK_CHAINED(claimed, sk_msg, claimed));
    sk_matcher_free(ep->matcher);
    ep->matcher = NULL;
}

static void ep_drop_sends(sk_ep *ep, const sk_chain *list)
{
    for (const sk_chain *at = list->next; at != list; at = at->next) {
        sk_send *s = SK_CHAINED(at, sk_send, chain);
        if (s->copy)
            sk_buffers_put(&ep->buffers, s->copy, s->len);
        sk_cq_release(ep->tx.cq);
    }
}

/* What is under way ends here, without a word: the application has given it up. */
static void ep_drop_peers(sk_ep *ep)
{
    for (uint32_t i = 0; i < ep->npeers; i++) {
        sk_peer *p = ep->peer[i];
        if (!p)
            continue;
        ep_drop_sends(ep, &p->sends);
        ep_drop_sends(ep, &p->streams);
        ep_drop_sends(ep, &p->offers);
        for (const sk_chain *at = p->takes.next; at != &p->takes; at = at->next)
            sk_cq_release(ep->rx.cq);
        free(p);
    }
    free(ep->peer);
}

void sk_ep_shut(sk_ep *ep)
{
    if (!ep->enabled)
        return;
    ep_linger(ep);
    sk_report_close(ep);
    lane_close(&ep->shm);
    lane_close(&ep->inner);
    ep_drop_queues(ep);
    ep_drop_peers(ep);
    sk_handles_drop(&ep->sends);
    sk_handles_drop(&ep->recvs);
    free(ep->contexts.bucket);
    sk_pool_drop(&ep->send_pool);
    sk_pool_drop(&ep->recv_pool);
    sk_pool_drop(&ep->msg_pool);
    sk_pool_drop(&ep->note_pool);
    sk_buffers_drop(&ep->buffers);
}
