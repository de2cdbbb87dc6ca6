/* phase_neighbor_sized.c: blocks whose sizes only their two ends know. A bundle is a packet: its
 * records carry their lengths, the key is the place in the bundle. A block that does not ride is
 * absent; the packet is sent all the same, as its receiver cannot know. */
#include "neighbor/lowering/neighbor.h"

static bool rides(const sk_tour *t, sk_span block)
{
    return block.len > 0 && block.len <= t->ride;
}

/* Room for exactly what I put in, or, as soon as I pass on something, for whatever may ride. */
static int packet_for(const sk_tour *t, const sk_leg *l)
{
    int records = 0;
    int64_t bytes = 0;
    for (int i = l->first; i < l->first + l->n; i++) {
        const sk_piece *p = &t->pieces[i];
        if (!l->out || p->from != SK_OWN)
            return sk_packet(t->s, l->n, l->n * t->ride);
        sk_span block = sk_tour_send_block(t, p->dst);
        records += rides(t, block);
        bytes += rides(t, block) ? block.len : 0;
    }
    return sk_packet(t->s, records, bytes);
}

static void prepare(sk_tour *t)
{
    for (int i = 0; i < t->epoch_legs[t->nturns]; i++)
        t->legs[i].packet = packet_for(t, &t->legs[i]);
}

/* Records are appended in rising order, so a leg is filled at one time. */
static bool can_be_early(const sk_tour *t, const sk_leg *l)
{
    for (int i = l->first; i < l->first + l->n; i++)
        if (sk_piece_came(t, &t->pieces[i]) >= l->epoch - 1)
            return false;
    return true;
}

static void fill(sk_tour *t, const sk_leg *l)
{
    for (int i = 0; i < l->n; i++) {
        const sk_piece *p = &t->pieces[l->first + i];
        if (p->from != SK_OWN) {
            const sk_leg *in = &t->legs[t->pieces[p->from].leg];
            sk_relay(t->s, in->packet, p->from - in->first, l->packet, i);
        } else if (rides(t, sk_tour_send_block(t, p->dst))) {
            sk_put(t->s, l->packet, i, sk_tour_send_block(t, p->dst));
        }
    }
}

static void assemble(sk_tour *t, int epoch, bool early)
{
    for (int i = t->epoch_legs[epoch]; i < t->epoch_legs[epoch + 1]; i++)
        if (t->legs[i].out && can_be_early(t, &t->legs[i]) == early)
            fill(t, &t->legs[i]);
}

static void transfer(sk_tour *t, const sk_leg *l)
{
    if (l->out)
        sk_packet_send(t->s, l->packet, 0, l->n, l->peer);
    else
        sk_packet_recv(t->s, l->packet, l->peer);
}

/* Also to an empty edge: a block that comes although none is expected is an error to be seen. */
static void deliver(sk_tour *t, int epoch)
{
    for (int i = t->epoch_legs[epoch]; i < t->epoch_legs[epoch + 1]; i++) {
        const sk_leg *l = &t->legs[i];
        for (int k = 0; k < l->n && !l->out; k++) {
            const sk_piece *p = &t->pieces[l->first + k];
            int first, n = p->mine ? sk_tour_edges(t, p->src, &first) : 0;
            for (int j = 0; j < n && sk_tour_edge(t, first).len <= t->ride; j++)
                sk_get(t->s, l->packet, k, sk_tour_edge(t, first + j));
        }
    }
}

const sk_cargo sk_cargo_sized = {prepare, assemble, transfer, deliver};
