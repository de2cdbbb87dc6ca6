/* peer.c: the endpoints we talk to. A peer object is created at the first contact, in either
 * direction. The lane to it is chosen when something is to be sent, and kept. */
#include <stdlib.h>
#include <string.h>

#include "fabric/proto/endpoint.h"

static bool peers_grow(sk_endpoint *ep, uint32_t number)
{
    uint32_t size = ep->npeers ? ep->npeers : 64;
    while (size <= number)
        size *= 2;
    sk_peer **peer = realloc(ep->peer, size * sizeof(sk_peer *));
    if (!peer)
        return false;
    memset(peer + ep->npeers, 0, (size - ep->npeers) * sizeof(sk_peer *));
    ep->peer = peer;
    ep->npeers = size;
    return true;
}

sk_peer *sk_peer_get(sk_endpoint *ep, uint32_t number)
{
    if (number < ep->npeers && ep->peer[number])
        return ep->peer[number];
    if (number == SK_NO_ID || (number >= ep->npeers && !peers_grow(ep, number)))
        return NULL;
    sk_peer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->id = ep->ids->entry[number].id;
    p->number = number;
    p->credit = p->window = SK_FIRST_CREDIT;
    sk_list_init(&p->controls);
    sk_list_init(&p->sends);
    sk_list_init(&p->streams);
    sk_list_init(&p->rts_sent);
    sk_list_init(&p->receiving);
    if (p->id == ep->id) {
        p->state = SK_PEER_LOOPBACK;
        p->eager = ep->config->eager;
    }
    ep->peer[number] = p;
    return p;
}

static int connect_by(sk_endpoint *ep, sk_peer *p, sk_lane *lane, const void *name, size_t len)
{
    if (!lane || !name)
        return -ENETUNREACH;
    int rc = lane->ops->connect(lane, p->id, name, len, &p->lane_peer);
    if (rc != 0)
        return rc;
    size_t most = lane->max_packet - sk_packet_header_size(SK_PACKET_EAGER);
    p->lane = lane;
    p->eager = ep->config->eager < most ? ep->config->eager : most;
    p->state = SK_PEER_CONNECTED;
    return 0;
}

int sk_peer_connect(sk_endpoint *ep, sk_peer *p)
{
    const sk_id_entry *known = &ep->ids->entry[p->number];
    const sk_address *name = &known->name;
    int rc = -ENETUNREACH;
    if (name->id != p->id)
        return -FI_EAGAIN; /* a packet came from it, but its name may still be inserted */
    if (sk_address_same_node(&ep->name, name))
        rc = connect_by(ep, p, ep->shm.lane, sk_address_shm(name), name->shm_len);
    if (rc != 0)
        rc = connect_by(ep, p, ep->core.lane, sk_address_core(name), name->core_len);
    if (rc == 0)
        return 0;
    p->state = SK_PEER_UNREACHABLE;
    FI_WARN(&sk_provider, FI_LOG_EP_DATA,
            "no way to endpoint %016llx (address %llu): shared memory %s, core provider %s: %s\n",
            (unsigned long long)p->id, (unsigned long long)known->addr,
            ep->shm.lane ? "is on" : "is off", ep->core.lane ? "is there" : "is not there",
            fi_strerror(-rc));
    return -FI_EHOSTUNREACH;
}

int sk_peer_at(sk_endpoint *ep, fi_addr_t addr, sk_peer **out)
{
    uint32_t number = sk_id_at(ep->ids, addr);
    if (number == SK_NO_ID) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA, "%llu is not an address of the vector\n",
                (unsigned long long)addr);
        return -FI_EINVAL;
    }
    sk_peer *p = sk_peer_get(ep, number);
    if (!p)
        return -FI_ENOMEM;
    *out = p;
    switch ((sk_peer_state)p->state) {
    case SK_PEER_NEW:
        return sk_peer_connect(ep, p);
    case SK_PEER_UNREACHABLE:
        return -FI_EHOSTUNREACH;
    case SK_PEER_GONE:
        return -FI_ECONNRESET;
    default:
        return 0;
    }
}

int sk_peer_transmit(sk_peer *p, sk_packet *head, const struct iovec *iov, size_t niov)
{
    struct iovec part[1 + SK_MAX_IOV];
    SK_ASSERT(p->state == SK_PEER_CONNECTED && niov <= SK_MAX_IOV);
    head->version = SK_PACKET_VERSION;
    head->credit = p->owed < UINT32_MAX ? (uint32_t)p->owed : UINT32_MAX;
    part[0] = (struct iovec){head, sk_packet_header_size((sk_packet_type)head->type)};
    for (size_t i = 0; i < niov; i++)
        part[1 + i] = iov[i];
    int rc = p->lane->ops->send(p->lane, p->lane_peer, part, (int)niov + 1);
    if (rc == 0) {
        p->owed -= head->credit;
        p->reached = true;
    }
    return rc;
}

void sk_peer_schedule(sk_endpoint *ep, sk_peer *p)
{
    if (!sk_list_linked(&p->scheduled))
        sk_list_append(&ep->scheduled, &p->scheduled);
}

void sk_peer_control(sk_endpoint *ep, sk_peer *p, const sk_packet *head)
{
    if (p->state != SK_PEER_NEW && p->state != SK_PEER_CONNECTED)
        return;
    if (p->state == SK_PEER_CONNECTED && sk_list_empty(&p->controls)) {
        sk_packet now = *head;
        if (sk_peer_transmit(p, &now, NULL, 0) != -EAGAIN)
            return; /* sent; or the lane will report that the peer is gone */
    }
    sk_control *waits = sk_object_pool_get(&ep->control_pool);
    if (waits) {
        waits->head = *head;
        sk_list_append(&p->controls, &waits->node);
    } else {
        p->error = FI_ENOMEM;
    }
    sk_peer_schedule(ep, p);
}
