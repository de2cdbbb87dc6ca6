/* phase_prefix.c: the prefixes of phase_reduce.h. Operands always come from the left. */
#include "coll/phase/reduce.h"

sk_prefix sk_prefix_new(sk_sched *s, const sk_call *c)
{
    int64_t n = sk_call_elems(c);
    sk_span none = {0}, result = sk_recv_elems(c, 0, n);
    sk_prefix x = {.exclusive = c->coll == SK_EXSCAN};
    if (!x.exclusive) {
        x.with = sk_acc_new(c, 0, n, result);
        return x;
    }
    x.with = sk_acc_new(c, 0, n, none);
    x.without = sk_acc_none(c, n, result);
    /* An operand serves both values, so it must stay as it came: only the right operand may be
     * written. And in place the input is lost when the first operand comes in. */
    x.with.ordered = x.without.ordered = true;
    if (c->rank > 0 && c->rank < c->nranks - 1) {
        sk_acc_ready(s, &x.with, 0, n, false);
        sk_fence(s);
    }
    return x;
}

void sk_prefix_take(sk_sched *s, sk_prefix *x, int peer, bool more)
{
    sk_acc *a = x->exclusive ? &x->without : &x->with;
    sk_acc_ready(s, a, 0, a->n, false);
    sk_span in = sk_acc_in(s, a);
    sk_recv(s, in, peer);
    sk_fence(s);
    sk_acc_add(s, a, 0, a->n, false);
    if (x->exclusive && more)
        sk_reduce(s, in, x->with.at);
    sk_fence(s);
}

void sk_prefix_end(sk_sched *s, const sk_prefix *x)
{
    if (!x->exclusive)
        sk_copy(s, x->with.at, sk_recv_elems(x->with.c, 0, x->with.n));
}

int64_t sk_prefix_room(const sk_call *c)
{
    return sk_vectors_room(c, c->coll == SK_EXSCAN ? 2 : 1, sk_call_elems(c));
}
