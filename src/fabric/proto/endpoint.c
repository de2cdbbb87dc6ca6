/* endpoint.c: the life of a protocol endpoint: its lanes and its memory. */
#include <stdlib.h>
#include <time.h>

#include "fabric/proto/endpoint.h"

enum { MIN_PACKET = 8192, CACHED_BUFFERS = 16 << 20, LINGER_MS = 1000 };

static int lane_open(sk_endpoint *ep, sk_endpoint_lane *l, const sk_lane_ops *ops)
{
    const sk_fabric_config *c = ep->config;
    size_t data = c->eager > MIN_PACKET ? c->eager : MIN_PACKET;
    sk_lane_config config = {
        .id = ep->id,
        .events = sk_endpoint_events(l),
        .core_provider = c->core_provider,
        .max_packet = sizeof(sk_packet) + data,
        .cma = c->direct,
    };
    l->ep = ep;
    int rc = ops->open(&l->lane, &config);
    if (rc != 0) {
        l->lane = NULL;
        FI_INFO(&sk_provider, FI_LOG_EP_CTRL, "no lane by %s: %s\n", ops->name, fi_strerror(-rc));
    }
    return rc;
}

static void lane_close(sk_endpoint_lane *l)
{
    if (l->lane)
        l->lane->ops->close(l->lane);
    l->lane = NULL;
}

/* The name on a lane. A lane whose name does not fit is of no use: it is closed. */
static size_t lane_name(sk_endpoint_lane *l, void *name, size_t size)
{
    if (!l->lane)
        return 0;
    int rc = l->lane->ops->get_name(l->lane, name, &size);
    if (rc == 0)
        return size;
    FI_WARN(&sk_provider, FI_LOG_EP_CTRL, "no name for %s: %s\n", l->lane->ops->name,
            fi_strerror(-rc));
    lane_close(l);
    return 0;
}

static int lanes_open(sk_endpoint *ep)
{
    unsigned char shm[SK_ADDRESS_NAMES], core[SK_ADDRESS_NAMES];
    int rc;
    ep->id = sk_address_id();
    if (!ep->id)
        return -FI_EIO;
    if (ep->config->shm)
        lane_open(ep, &ep->shm, &sk_lane_shm);
    rc = lane_open(ep, &ep->core, &sk_lane_core);
    size_t shm_len = lane_name(&ep->shm, shm, sizeof shm);
    size_t core_len = lane_name(&ep->core, core, sizeof core - shm_len);
    if (!ep->shm.lane && !ep->core.lane) {
        FI_WARN(&sk_provider, FI_LOG_EP_CTRL, "neither shared memory nor a core provider: %s\n",
                fi_strerror(-rc));
        return rc;
    }
    if (rc != 0 && *ep->config->core_provider) {
        FI_WARN(&sk_provider, FI_LOG_EP_CTRL, "the core provider %s cannot be used: %s\n",
                ep->config->core_provider, fi_strerror(-rc));
        return rc;
    }
    return sk_address_make(&ep->name, ep->id, sk_address_node(), shm, shm_len, core, core_len) ==
                   SK_OK
               ? 0
               : -FI_EIO;
}

void sk_endpoint_init(sk_endpoint *ep)
{
    sk_list_init(&ep->scheduled);
    sk_list_init(&ep->retry);
    sk_list_init(&ep->claimed);
}

int sk_endpoint_open(sk_endpoint *ep)
{
    int rc = lanes_open(ep);
    if (rc != 0) {
        lane_close(&ep->shm);
        lane_close(&ep->core);
        return rc;
    }
    sk_kinds_init(&ep->kinds);
    sk_object_pool_init(&ep->send_pool, sizeof(sk_send_req));
    sk_object_pool_init(&ep->recv_pool, sizeof(sk_recv_req));
    sk_object_pool_init(&ep->msg_pool, sizeof(sk_msg));
    sk_object_pool_init(&ep->control_pool, sizeof(sk_control));
    sk_buffer_cache_init(&ep->buffers, CACHED_BUFFERS);
    return 0;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Is anything left to send to a connected peer? */
static bool has_unsent(const sk_endpoint *ep)
{
    for (const sk_list *at = ep->scheduled.next; at != &ep->scheduled; at = at->next)
        if (SK_LIST_ENTRY(at, sk_peer, scheduled)->state == SK_PEER_CONNECTED)
            return true;
    return false;
}

/* Peers may wait for control packets that are still here: send them, for at most LINGER_MS. */
static void linger(sk_endpoint *ep)
{
    int64_t end = now_ms() + LINGER_MS;
    while (has_unsent(ep) && now_ms() < end)
        sk_endpoint_progress(ep);
}

static void exports_end(const sk_list *list)
{
    for (const sk_list *at = list->next; at != list; at = at->next) {
        sk_send_req *s = SK_LIST_ENTRY(at, sk_send_req, node);
        if (s->exported)
            s->peer->lane->ops->unexport(s->peer->lane, s->export_handle);
        s->exported = false;
    }
}

/* Sends that wait for their receivers: a lane cannot close while data is exported on it. */
static void unexport_all(const sk_endpoint *ep)
{
    for (uint32_t i = 0; i < ep->npeers; i++)
        if (ep->peer[i]) {
            exports_end(&ep->peer[i]->sends);
            exports_end(&ep->peer[i]->streams);
            exports_end(&ep->peer[i]->rts_sent);
        }
}

static void queue_free(sk_endpoint *ep, sk_matcher *m)
{
    sk_match_item *at = NULL, *next;
    for (int side = 0; m && side < SK_NSIDES; side++) {
        for (at = sk_matcher_next(m, (sk_match_side)side, NULL); at; at = next) {
            next = sk_matcher_next(m, (sk_match_side)side, at);
            if (side == SK_POSTED && sk_matcher_cancel(m, at))
                sk_recv_drop(ep, (sk_recv_req *)at);
            else if (side == SK_UNEXPECTED) {
                sk_matcher_claim(m, at);
                sk_msg_free(ep, (sk_msg *)at);
            }
        }
    }
    sk_matcher_free(m);
}

static void queues_free(sk_endpoint *ep)
{
    sk_list *claimed;
    for (int q = 0; q < SK_NQUEUES; q++) {
        queue_free(ep, ep->matcher[q]);
        ep->matcher[q] = NULL;
    }
    while ((claimed = sk_list_pop(&ep->claimed)))
        sk_msg_free(ep, SK_LIST_ENTRY(claimed, sk_msg, claimed));
}

static void sends_drop(sk_endpoint *ep, const sk_list *list)
{
    for (const sk_list *at = list->next; at != list; at = at->next) {
        sk_send_req *s = SK_LIST_ENTRY(at, sk_send_req, node);
        if (s->copy)
            sk_buffer_cache_put(&ep->buffers, s->copy, s->len);
        sk_completion_unreserve(ep->tx);
    }
}

/* Operations in progress end here without a completion: the application has closed the endpoint. */
static void peers_free(sk_endpoint *ep)
{
    for (uint32_t i = 0; i < ep->npeers; i++) {
        sk_peer *p = ep->peer[i];
        if (!p)
            continue;
        sends_drop(ep, &p->sends);
        sends_drop(ep, &p->streams);
        sends_drop(ep, &p->rts_sent);
        for (const sk_list *at = p->receiving.next; at != &p->receiving; at = at->next)
            sk_completion_unreserve(ep->rx);
        free(p);
    }
    free(ep->peer);
}

void sk_endpoint_close(sk_endpoint *ep, uint64_t contended)
{
    linger(ep);
    sk_matching_report(ep, contended);
    unexport_all(ep);
    lane_close(&ep->shm);
    lane_close(&ep->core);
    queues_free(ep);
    peers_free(ep);
    sk_handle_table_free(&ep->sends);
    sk_handle_table_free(&ep->recvs);
    free(ep->contexts.bucket);
    sk_object_pool_free(&ep->send_pool);
    sk_object_pool_free(&ep->recv_pool);
    sk_object_pool_free(&ep->msg_pool);
    sk_object_pool_free(&ep->control_pool);
    sk_buffer_cache_free(&ep->buffers);
}
