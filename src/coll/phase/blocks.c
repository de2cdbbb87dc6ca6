/* blocks.c: packing, unpacking and taking of blocks, consecutive ones in one step. */
#include "coll/phase/blocks.h"

sk_span sk_blocks_get(const sk_blocks *r, int i)
{
    int k = (int)(((int64_t)i + r->shift) % r->c->nranks);
    if (r->order)
        k = r->order[k];
    return r->side == SK_SEND ? sk_send_block(r->c, k) : sk_recv_block(r->c, k);
}

int64_t sk_blocks_bytes(const sk_blocks *r, int lo, int hi)
{
    const sk_call *c = r->c;
    if (!c->send.counts && !c->recv.counts && !c->send.types && !c->recv.types)
        return (hi - lo) * sk_blocks_get(r, lo).len;
    int64_t sum = 0;
    for (int i = lo; i < hi; i++)
        sum += sk_blocks_get(r, i).len;
    return sum;
}

sk_span sk_blocks_place(sk_sched *s, const sk_blocks *r, int lo, int hi)
{
    sk_span run = {0};
    for (int i = lo; i < hi; i++)
        if (!sk_span_join(r->c->types, &run, sk_blocks_get(r, i)))
            return sk_scratch(s, sk_blocks_bytes(r, lo, hi));
    return run;
}

enum { TO_PLACE = -2, FROM_PLACE = -3 }; /* or the owner of a slot; -1: the common one */

static void move(sk_sched *s, const sk_blocks *r, sk_span run, sk_span place, int64_t *at, int way)
{
    sk_span packed = sk_span_cut(r->c->types, place, *at, run.len);
    if (way == TO_PLACE)
        sk_copy(s, run, packed);
    else if (way == FROM_PLACE)
        sk_copy(s, packed, run);
    else
        sk_take(s, way, packed, run);
    *at += run.len;
}

/* Blocks that follow each other move in one step. */
static void move_all(sk_sched *s, const sk_blocks *r, int lo, int hi, sk_span place, int way)
{
    if (place.buf < SK_SCRATCH)
        return;
    sk_span run = {0};
    int64_t at = 0;
    for (int i = lo; i < hi; i++) {
        sk_span next = sk_blocks_get(r, i);
        if (!sk_span_join(r->c->types, &run, next)) {
            move(s, r, run, place, &at, way);
            run = next;
        }
    }
    move(s, r, run, place, &at, way);
}

void sk_blocks_pack(sk_sched *s, const sk_blocks *r, int lo, int hi, sk_span place)
{
    move_all(s, r, lo, hi, place, TO_PLACE);
}

void sk_blocks_unpack(sk_sched *s, const sk_blocks *r, int lo, int hi, sk_span place)
{
    move_all(s, r, lo, hi, place, FROM_PLACE);
}

void sk_blocks_take(sk_sched *s, const sk_blocks *r, int lo, int hi, int owner, sk_span slot)
{
    move_all(s, r, lo, hi, slot, owner);
}

sk_span sk_contiguous_place(sk_sched *s, const sk_call *c, sk_span user)
{
    return c->types[user.type].contig ? user : sk_scratch(s, user.len);
}

int64_t sk_scratch_bytes(int64_t n, int64_t bytes)
{
    if (n == 0 || bytes == 0)
        return 0;
    if (bytes > (INT64_MAX - SK_SCRATCH_STEP) / n)
        return INT64_MAX;
    return (n * bytes + SK_SCRATCH_STEP - 1) / SK_SCRATCH_STEP * SK_SCRATCH_STEP;
}
