/* phase_alltoall.c: the blocks to send, also when they stand where the received ones go. */
#include "coll/phase/phases.h"

sk_sends sk_alltoall_sends(sk_sched *s, const sk_call *c)
{
    sk_sends x = {.row = {.c = c, .side = SK_SEND, .shift = c->rank + 1}};
    if (c->in_place) {
        int n = c->nranks - 1;
        x.copy = sk_scratch(s, sk_row_bytes(&x.row, 0, n));
        sk_row_in(s, &x.row, 0, n, x.copy);
        sk_fence(s);
    }
    return x;
}

sk_span sk_sends_next(sk_sends *x)
{
    const sk_call *c = x->row.c;
    sk_span block = sk_row_block(&x->row, x->next++);
    if (c->in_place) {
        block = sk_span_cut(c->types, x->copy, x->at, block.len);
        x->at += block.len;
    }
    return block;
}

int64_t sk_alltoall_sends_scratch(const sk_call *c)
{
    return c->coll == SK_ALLTOALL && c->in_place ? sk_room(c->nranks - 1, sk_call_bytes(c)) : 0;
}

void sk_alltoall_by_exchange(sk_sched *s, const sk_call *c, int window)
{
    int p = c->nranks, me = c->rank;
    sk_sends sends = sk_alltoall_sends(s, c);
    sk_copy(s, sk_send_block(c, me), sk_recv_block(c, me));
    for (int i = 1; i < p; i++) {
        sk_recv(s, sk_recv_block(c, (me + p - i) % p), (me + p - i) % p);
        sk_send(s, sk_sends_next(&sends), (int)(((int64_t)me + i) % p));
        if (i % window == 0)
            sk_fence(s);
    }
}
