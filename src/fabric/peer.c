/* peer.c: the endpoints we talk to. A peer is met by its number; the lane that leads to it is
 * chosen when something is to be sent, and kept. */
#include <stdlib.h>
#include <string.h>

#include "fabric/endpoint.h"

static bool ep_peers_grow(sk_ep *ep, uint32_t number)
{
    uint32_t room = ep->npeers ? ep->npeers : 64;
    while (room <= number)
        room *= 2;
    sk_peer **peer = realloc(ep->peer, room * sizeof(sk_peer *));
    if (!peer)
        return false;
    memset(peer + ep->npeers, 0, (room - ep->npeers) * sizeof(sk_peer *));
    ep->peer = peer;
    ep->npeers = room;
    return true;
}

sk_peer *sk_ep_peer(sk_ep *ep, uint32_t number)
{
    if (number < ep->npeers && ep->peer[number])
        return ep->peer[number];
    if (number == SK_NOBODY || (number >= ep->npeers && !ep_peers_grow(ep, number)))
        return NULL;
    sk_peer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->id = ep->av->known[number].id;
    p->number = number;
    p->credit = p->window = SK_FIRST_CREDIT;
    sk_chain_init(&p->notes);
    sk_chain_init(&p->sends);
    sk_chain_init(&p->streams);
    sk_chain_init(&p->offers);
    sk_chain_init(&p->takes);
    if (p->id == ep->id) {
        p->state = SK_PEER_SELF;
        p->eager = ep->domain->config.eager;
        sk_credit_welcome(ep, p);
    }
    ep->peer[number] = p;
    return p;
}

static int peer_by(sk_ep *ep, sk_peer *p, sk_lane *lane, const void *name, size_t len)
{
    if (!lane || !name)
        return -ENETUNREACH;
    int rc = lane->ops->connect(lane, p->id, name, len, &p->on);
    if (rc != 0)
        return rc;
    size_t most = lane->max_packet - sk_packet_head(SK_PACKET_EAGER);
    p->lane = lane;
    p->eager = ep->domain->config.eager < most ? ep->domain->config.eager : most;
    p->state = SK_PEER_HERE;
    return 0;
}

int sk_peer_reach(sk_ep *ep, sk_peer *p)
{
    const sk_address *name = &ep->av->known[p->number].name;
    int rc = -ENETUNREACH;
    if (name->id != p->id)
        return -FI_EAGAIN; /* it is only heard of: it may still be inserted */
    if (sk_address_mates(&ep->name, name))
        rc = peer_by(ep, p, ep->shm.lane, sk_address_shm(name), name->shm_len);
    if (rc != 0)
        rc = peer_by(ep, p, ep->inner.lane, sk_address_inner(name), name->inner_len);
    if (rc == 0)
        return 0;
    p->state = SK_PEER_FAR;
    FI_WARN(&sk_provider, FI_LOG_EP_DATA,
            "no way to endpoint %016llx (address %llu): shared memory %s, inner provider %s: %s\n",
            (unsigned long long)p->id, (unsigned long long)ep->av->known[p->number].addr,
            ep->shm.lane ? "is on" : "is off", ep->inner.lane ? "is there" : "is not there",
            fi_strerror(-rc));
    return -FI_EHOSTUNREACH;
}

int sk_ep_peer_at(sk_ep *ep, fi_addr_t addr, sk_peer **out)
{
    const sk_av *av = ep->av;
    if (addr >= av->naddrs || av->number[addr] == SK_NOBODY) {
        FI_WARN(&sk_provider, FI_LOG_EP_DATA, "%llu is not an address of the vector\n",
                (unsigned long long)addr);
        return -FI_EINVAL;
    }
    sk_peer *p = sk_ep_peer(ep, av->number[addr]);
    if (!p)
        return -FI_ENOMEM;
    *out = p;
    switch ((sk_peer_state)p->state) {
    case SK_PEER_NEW:
        return sk_peer_reach(ep, p);
    case SK_PEER_FAR:
        return -FI_EHOSTUNREACH;
    case SK_PEER_GONE:
        return -FI_ECONNRESET;
    default:
        return 0;
    }
}

int sk_peer_transmit(sk_ep *ep, sk_peer *p, sk_packet *head, const struct iovec *iov, size_t niov)
{
    (void)ep;
    struct iovec part[1 + SK_MAX_IOV];
    head->version = SK_PACKET_VERSION;
    head->credit = p->owed < UINT32_MAX ? (uint32_t)p->owed : UINT32_MAX;
    part[0] = (struct iovec){head, sk_packet_head((sk_packet_type)head->type)};
    for (size_t i = 0; i < niov; i++)
        part[1 + i] = iov[i];
    int rc = p->lane->ops->send(p->lane, p->on, part, (int)niov + 1);
    if (rc == 0)
        p->owed -= head->credit;
    return rc;
}

void sk_peer_busy(sk_ep *ep, sk_peer *p)
{
    if (!sk_chain_in(&p->busy))
        sk_chain_append(&ep->busy, &p->busy);
}

void sk_peer_note(sk_ep *ep, sk_peer *p, const sk_packet *head)
{
    if (p->state != SK_PEER_NEW && p->state != SK_PEER_HERE)
        return;
    if (p->state == SK_PEER_HERE && sk_chain_empty(&p->notes)) {
        sk_packet now = *head;
        if (sk_peer_transmit(ep, p, &now, NULL, 0) != -EAGAIN)
            return; /* sent; or the lane will tell that the peer is gone */
    }
    sk_note *n = sk_pool_get(&ep->note_pool);
    if (!n) {
        sk_peer_lose(ep, p, FI_ENOMEM);
        return;
    }
    n->head = *head;
    sk_chain_append(&p->notes, &n->chain);
    sk_peer_busy(ep, p);
}
