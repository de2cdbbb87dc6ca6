/* phase_ride.c: room for small blocks that travel along a tree with their sizes. */
#include "coll/phase/phases.h"
#include "sched/packet.h"

int sk_ride_packet_known(sk_sched *s, const sk_row *r, int lo, int hi)
{
    int records = 0;
    int64_t bytes = 0;
    for (int i = lo; i < hi; i++) {
        sk_span block = sk_row_block(r, i);
        if (sk_rides(block)) {
            records++;
            bytes += block.len;
        }
    }
    return sk_packet(s, records, bytes);
}

int sk_ride_packet_unknown(sk_sched *s, const sk_tree *t)
{
    int members = t->up.hi - t->up.lo;
    return sk_packet(s, members, (int64_t)members * SK_RIDE_LIMIT);
}

int64_t sk_ride_scratch(const sk_call *c)
{
    return sk_room(1, sk_packet_bytes(c->nranks, (int64_t)c->nranks * SK_RIDE_LIMIT));
}
