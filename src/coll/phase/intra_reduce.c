/* intra_reduce.c: vectors in slots, and who reduces which part of them. */
#include "coll/phase/intra_reduce.h"

#include "coll/phase/reduce.h"

static const sk_type *type_of(const sk_call *c)
{
    return &c->types[c->send.type];
}

bool sk_intra_reduce_fits(const sk_call *c, int n)
{
    return sk_intra_fits(c) && c->builtin && sk_slot_bytes(type_of(c), 1) <= c->slot_bytes / n;
}

bool sk_intra_is_short(const sk_call *c)
{
    int64_t n = sk_call_elems(c);
    return sk_call_bytes(c) <= SK_INTRA_REDUCE_SHORT && sk_elems_bytes(c, n) <= c->slot_bytes;
}

int64_t sk_elems_in(const sk_call *c, int64_t bytes)
{
    const sk_type *t = type_of(c);
    int64_t step = t->extent < 0 ? -t->extent : t->extent;
    if (bytes < t->true_extent)
        return 1;
    return 1 + (bytes - t->true_extent) / (step ? step : 1);
}

int64_t sk_elems_bytes(const sk_call *c, int64_t n)
{
    int64_t lo, hi;
    sk_type_bounds(type_of(c), n, &lo, &hi);
    return hi - lo;
}

int64_t sk_elems_each(const sk_call *c)
{
    int64_t least = sk_slot_bytes(type_of(c), 1);
    int64_t bytes =
        sk_intra_epoch_bytes(c, SK_INTRA_REDUCE_CHUNK) / c->nranks / SK_CACHE_LINE * SK_CACHE_LINE;
    return sk_elems_in(c, bytes > least ? bytes : least);
}

sk_span sk_elems_slot(const sk_call *c, int epoch, int64_t at, int64_t n)
{
    return sk_slot_typed(c->types, c->send.type, epoch, at, n);
}

/* n elements in the common slot. */
static sk_span elems_common(const sk_call *c, int epoch, int64_t n)
{
    sk_span s = sk_elems_slot(c, epoch, 0, n);
    s.buf = sk_common(epoch, 0, 0).buf;
    return s;
}

/* The fewest elements that fill whole cache lines. */
static int64_t elems_of_lines(const sk_call *c)
{
    int64_t step = type_of(c)->extent, n = SK_CACHE_LINE;
    for (; n > 1 && step % 2 == 0; step /= 2)
        n /= 2;
    return n;
}

sk_elem_range sk_elems_part_of(const sk_call *c, int64_t n, int rank)
{
    int64_t unit = elems_of_lines(c), p = c->nranks;
    int64_t units = n / unit + (n % unit != 0), each = units / p, more = units % p;
    int64_t lo = (each * rank + (rank < more ? rank : more)) * unit;
    int64_t hi = lo + (each + (rank < more)) * unit;
    return (sk_elem_range){.lo = lo < n ? lo : n, .hi = hi < n ? hi : n};
}

int sk_intra_post_vector(sk_sched *s, const sk_call *c, bool all)
{
    int64_t n = sk_call_elems(c);
    int epoch = sk_epoch(s, sk_elems_bytes(c, n), all);
    sk_copy(s, sk_send_elems(c, 0, n), sk_elems_slot(c, epoch, 0, n));
    sk_fence(s);
    sk_post(s, epoch);
    return epoch;
}

static void fold_part(sk_sched *s, const sk_call *c, int from, int to, int64_t n)
{
    sk_elem_range part = sk_elems_part_of(c, n, c->rank);
    if (part.lo < part.hi)
        sk_fold_local(s, 0, c->nranks,
                      sk_elems_cut(c, sk_elems_slot(c, from, 0, n), part.lo, part.hi - part.lo),
                      sk_elems_cut(c, elems_common(c, to, n), part.lo, part.hi - part.lo));
}

void sk_intra_reduce_by_parts(sk_sched *s, const sk_call *c, int to)
{
    int64_t all = sk_call_elems(c),
            most = sk_elems_in(c, sk_intra_epoch_bytes(c, SK_INTRA_REDUCE_CHUNK));
    int64_t chunks = all / most + (all % most != 0);
    for (int64_t k = 0, first = 0; k < chunks; k++) {
        int64_t n = all / chunks + (k < all % chunks), bytes = sk_elems_bytes(c, n);
        int in = sk_epoch(s, bytes, true), out = sk_epoch(s, bytes, true);
        sk_copy(s, sk_send_elems(c, first, n), sk_elems_slot(c, in, 0, n));
        sk_fence(s);
        sk_post(s, in);
        fold_part(s, c, in, out, n);
        sk_fence(s);
        sk_post(s, out);
        if (to < 0 || to == c->rank)
            sk_take(s, -1, elems_common(c, out, n), sk_recv_elems(c, first, n));
        first += n;
    }
}

int64_t sk_intra_chain_bytes(const sk_call *c)
{
    int64_t bytes = sk_call_bytes(c), chunk = SK_INTRA_CHUNK;
    if (bytes / chunk >= SK_INTRA_EPOCHS)
        return c->slot_bytes;
    if (!sk_machine_oversubscribed(c->machine))
        return sk_intra_flow_bytes(c, bytes);
    return chunk < c->slot_bytes ? chunk : c->slot_bytes;
}

void sk_intra_claim_parts(const sk_cost_case *k, sk_cost *c, int64_t takers)
{
    int64_t chunks = sk_claim_ceil(k->n, sk_intra_epoch_bytes(k->call, SK_INTRA_REDUCE_CHUNK));
    sk_claim_moves(c, 2 * chunks, chunks, k->n, SK_UNCLAIMED, SK_UNCLAIMED);
    c->all_take_bytes = (k->p + takers) * k->n;
}
