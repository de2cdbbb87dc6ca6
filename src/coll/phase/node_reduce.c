/* phase_node_reduce.c: reductions of the ranks of a node, a chunk at a time.
 *
 * In epochs: everybody's input goes to its slot. Short vectors are combined by the leaders, each its
 * part; long ones by all local ranks, each its share, into the common slot, whence the leaders take them.
 * Local ranks are in rank order, so the order of operands is kept if the ranks of a node follow each
 * other. */
#include "coll/phase/leaders.h"
#include "coll/phase/reduce.h"

enum { SHARE_FROM = 16 * 1024 }; /* bytes; below it an epoch more costs more than it spares */

bool sk_lead_reduction_fits(const sk_call *c)
{
    return sk_lead_fits(c) && (!c->ordered || sk_lead_in_order(c)) &&
           sk_lead_chunks(sk_call_elems(c), sk_lead_elems(c)) < SK_LEAD_CHUNKS;
}

/* Elements of a type that have room in a slot. */
static int64_t elems_in(const sk_type *t, int64_t room)
{
    int64_t step = t->extent < 0 ? -t->extent : t->extent;
    if (step < t->true_extent)
        step = t->true_extent;
    int64_t n = step > 0 ? room / step : 0;
    while (n > 0 && sk_slot_room(t, n) > room)
        n--;
    return n;
}

static int64_t chunk_room(const sk_call *c)
{
    return c->room < SK_LEAD_CHUNK ? c->room : SK_LEAD_CHUNK;
}

bool sk_lead_reduces_in_epochs(const sk_call *c)
{
    return c->builtin && elems_in(&c->types[c->send.type], chunk_room(c)) > 0;
}

int64_t sk_lead_elems(const sk_call *c)
{
    const sk_type *t = &c->types[c->send.type];
    if (sk_lead_reduces_in_epochs(c))
        return elems_in(t, chunk_room(c));
    int64_t n = t->size > 0 ? SK_LEAD_CHUNK / t->size : sk_call_elems(c);
    return n > 0 ? n : 1;
}

sk_call sk_inner_reduction(const sk_call *c, sk_coll coll, const sk_team *t, int64_t n)
{
    sk_call call = sk_inner_call(c, coll, t);
    call.send = call.recv = (sk_side){.count = n, .type = c->send.type};
    return call;
}

int64_t sk_lead_reduction_scratch(const sk_call *c)
{
    int64_t n = sk_call_elems(c), most = sk_lead_elems(c);
    return sk_vectors_room(c, 4, n < most ? n : most); /* two algorithms, two vectors each */
}

static int64_t elems(const sk_call *c, sk_span s)
{
    return s.len / c->types[s.type].size;
}

/* Where `to` is the input itself, nothing is read but what is there. */
static void reduce_by_messages(sk_lead *l, sk_span in, sk_span to)
{
    const sk_call *c = l->c;
    sk_parts from = sk_parts_even(c, in, l->k, c->types[in.type].size);
    sk_parts result = sk_parts_even(c, to, l->k, c->types[in.type].size);
    for (int j = 0; j < l->k; j++) {
        sk_span part = sk_parts_range(&from, j, j + 1);
        sk_call call = sk_inner_reduction(c, SK_REDUCE, &l->local_ranks, elems(c, part));
        call.root = sk_lead_local_rank(l, l->node, j);
        call.in_place = j == l->mine && in.buf == to.buf && in.off == to.off;
        sk_node_run(l, &call, &l->local_ranks, part,
                    j == l->mine ? sk_parts_range(&result, j, j + 1) : part);
    }
}

static void share_out(sk_lead *l, sk_span slot, int64_t n, sk_span to)
{
    const sk_call *c = l->c;
    int64_t size = c->types[slot.type].size;
    int epoch = sk_epoch(l->s, sk_slot_room(&c->types[slot.type], n), true);
    sk_span common = sk_slot_typed(c->types, slot.type, epoch, 0, n);
    common.buf = sk_common(epoch, 0, 0).buf;
    sk_parts from = sk_parts_even(c, slot, l->q, size), sums = sk_parts_even(c, common, l->q, size);
    sk_fold_local(l->s, 0, l->q, sk_parts_range(&from, l->me, l->me + 1),
                  sk_parts_range(&sums, l->me, l->me + 1));
    sk_lead_fence(l);
    sk_post(l->s, epoch);
    if (l->mine < 0)
        return;
    sk_parts sum = sk_parts_even(c, common, l->k, size), mine = sk_parts_even(c, to, l->k, size);
    sk_take(l->s, c->rank, sk_parts_range(&sum, l->mine, l->mine + 1),
            sk_parts_range(&mine, l->mine, l->mine + 1));
}

static void reduce_by_epochs(sk_lead *l, sk_span in, int64_t n, sk_span to)
{
    const sk_call *c = l->c;
    const sk_type *t = &c->types[in.type];
    int epoch = sk_epoch(l->s, sk_slot_room(t, n), false);
    sk_span slot = sk_slot_typed(c->types, in.type, epoch, 0, n);
    sk_copy(l->s, in, slot);
    sk_lead_fence(l);
    sk_post(l->s, epoch);
    if (in.len >= SHARE_FROM && l->q > l->k) {
        share_out(l, slot, n, to);
    } else if (l->mine >= 0) {
        sk_parts from = sk_parts_even(c, slot, l->k, t->size);
        sk_parts mine = sk_parts_even(c, to, l->k, t->size);
        sk_fold_local(l->s, 0, l->q, sk_parts_range(&from, l->mine, l->mine + 1),
                      sk_parts_range(&mine, l->mine, l->mine + 1));
    }
}

void sk_node_reduce(sk_lead *l, int64_t first, int64_t n, sk_span to)
{
    sk_span in = sk_send_elems(l->c, first, n);
    if (l->q == 1)
        sk_copy(l->s, in, to);
    else if (l->epochs)
        reduce_by_epochs(l, in, n, to);
    else
        reduce_by_messages(l, in, to);
}
