/* phase_message.c: a broadcast's message as bytes that may be cut anywhere. */
#include "coll/phase/phases.h"

sk_span sk_message_in(sk_sched *s, const sk_call *c)
{
    sk_span user = sk_recv_block(c, 0), place = sk_bytes_place(s, c, user);
    if (c->rank == c->root)
        sk_copy(s, user, place);
    return place;
}

void sk_message_out(sk_sched *s, const sk_call *c, sk_span place)
{
    sk_fence(s);
    if (c->rank != c->root)
        sk_copy(s, place, sk_recv_block(c, 0));
}

int64_t sk_message_scratch(const sk_call *c)
{
    return sk_room(1, sk_call_bytes(c));
}
