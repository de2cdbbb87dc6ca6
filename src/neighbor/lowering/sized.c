/* sized.c: blocks whose sizes only their two ends know. A bundle is a packet whose records carry their
 * lengths; the key of a record is its index in the bundle. A block above the combine limit is left out.
 * The packet is sent even if it is empty, since its receiver cannot know that. */
#include "neighbor/lowering/lowering.h"

static bool is_combined(const sk_lowering *t, sk_span block)
{
    return block.len > 0 && block.len <= t->combine_limit;
}

/* Exactly as large as this rank's own blocks; with forwarded blocks as large as these may be. */
static int packet_for(const sk_lowering *t, const sk_transfer *l)
{
    int records = 0;
    int64_t bytes = 0;
    for (int i = l->first; i < l->first + l->n; i++) {
        const sk_wire_block *p = &t->blocks[i];
        if (!l->out || p->from != SK_OWN)
            return sk_packet(t->s, l->n, l->n * t->combine_limit);
        sk_span block = sk_lowering_send_block(t, p->dst);
        records += is_combined(t, block);
        bytes += is_combined(t, block) ? block.len : 0;
    }
    return sk_packet(t->s, records, bytes);
}

static void prepare(sk_lowering *t)
{
    for (int i = 0; i < t->phase_transfers[t->nphases]; i++)
        t->transfers[i].packet = packet_for(t, &t->transfers[i]);
}

/* Records are appended in ascending order, so a packet is filled in one go. */
static bool can_be_early(const sk_lowering *t, const sk_transfer *l)
{
    for (int i = l->first; i < l->first + l->n; i++)
        if (sk_wire_block_arrival(t, &t->blocks[i]) >= l->phase - 1)
            return false;
    return true;
}

static void fill(sk_lowering *t, const sk_transfer *l)
{
    for (int i = 0; i < l->n; i++) {
        const sk_wire_block *p = &t->blocks[l->first + i];
        if (p->from != SK_OWN) {
            const sk_transfer *in = &t->transfers[t->blocks[p->from].transfer];
            sk_relay(t->s, in->packet, p->from - in->first, l->packet, i);
        } else if (is_combined(t, sk_lowering_send_block(t, p->dst))) {
            sk_put(t->s, l->packet, i, sk_lowering_send_block(t, p->dst));
        }
    }
}

static void assemble(sk_lowering *t, int phase, bool early)
{
    for (int i = t->phase_transfers[phase]; i < t->phase_transfers[phase + 1]; i++)
        if (t->transfers[i].out && can_be_early(t, &t->transfers[i]) == early)
            fill(t, &t->transfers[i]);
}

static void transfer(sk_lowering *t, const sk_transfer *l)
{
    if (l->out)
        sk_packet_send(t->s, l->packet, 0, l->n, l->peer);
    else
        sk_packet_recv(t->s, l->packet, l->peer);
}

/* Also to an empty edge, so that a block that arrives unexpectedly is reported as an error. */
static void deliver(sk_lowering *t, int phase)
{
    for (int i = t->phase_transfers[phase]; i < t->phase_transfers[phase + 1]; i++) {
        const sk_transfer *l = &t->transfers[i];
        for (int k = 0; k < l->n && !l->out; k++) {
            const sk_wire_block *p = &t->blocks[l->first + k];
            int first, n = p->mine ? sk_lowering_edges(t, p->src, &first) : 0;
            for (int j = 0; j < n && sk_lowering_edge(t, first).len <= t->combine_limit; j++)
                sk_get(t->s, l->packet, k, sk_lowering_edge(t, first + j));
        }
    }
}

const sk_layout sk_layout_sized = {prepare, assemble, transfer, deliver};
