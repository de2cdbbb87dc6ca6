/* phase_share.c: how data is dealt out to epochs, and blocks that have to be packed for it. */
#include "coll/phase/share.h"

bool sk_share_fits(const sk_call *c)
{
    return c->machine && c->machine->nnodes == 1 && c->room > 0 && c->nranks > 1;
}

int64_t sk_share_chunk(const sk_call *c, int64_t most)
{
    return sk_machine_crowded(c->machine) || c->room < most ? c->room : most;
}

bool sk_share_common(const sk_call *c, int64_t bytes)
{
    return sk_machine_crowded(c->machine) && bytes <= c->room && bytes <= SK_SHARE_COMMON;
}

void sk_share_meet(sk_sched *s, const sk_call *c, int epoch)
{
    if (sk_machine_crowded(c->machine))
        sk_await_local(s, epoch, 0, c->nranks);
}

int64_t sk_share_scratch(int64_t n, int64_t block)
{
    return sk_room(n, sk_room(1, block));
}

/* ---- equal blocks dealt out to epochs ---- */

static int64_t pieces(int64_t all, int64_t piece)
{
    return all / piece + (all % piece != 0);
}

sk_deal sk_deal_out(const sk_call *c, int n, int64_t block)
{
    int64_t most = sk_share_chunk(c, SK_SHARE_CHUNK);
    if (n * block / most > SK_SHARE_EPOCHS)
        most = c->room;
    sk_deal d = {.block = block, .n = n, .per = 1, .cuts = 1, .part = block};
    if (block == 0 || n == 0)
        return d;
    if (block <= most) {
        d.per = most / block;
        d.nturns = pieces(n, d.per);
        return d;
    }
    int64_t even = sk_room(1, pieces(block, pieces(block, most))); /* whole cache lines */
    d.part = even < most ? even : most;
    d.cuts = pieces(block, d.part);
    d.nturns = d.cuts * n;
    return d;
}

sk_hand sk_deal_hand(const sk_deal *d, int64_t epoch)
{
    int64_t lo = d->cuts > 1 ? epoch / d->cuts : epoch * d->per;
    int64_t hi = d->n - lo < d->per ? d->n : lo + d->per;
    int64_t from = d->cuts > 1 ? epoch % d->cuts * d->part : 0;
    int64_t left = d->block - from;
    return (sk_hand){
        .lo = (int)lo, .hi = (int)hi, .from = from, .len = left < d->part ? left : d->part};
}

/* ---- the blocks of all other ranks ---- */

sk_others sk_others_of(const sk_call *c, sk_buf side, int but)
{
    return (sk_others){.row = {.c = c, .side = side, .shift = but + 1}, .n = c->nranks - 1};
}

int sk_others_rank(const sk_others *x, int i)
{
    return (int)(((int64_t)x->row.shift + i) % x->row.c->nranks);
}

int sk_others_find(const sk_others *x, int rank)
{
    int p = x->row.c->nranks, first = x->row.shift % p;
    return rank < first ? rank - first + p : rank - first;
}

void sk_others_loosen(sk_sched *s, sk_others *x, bool force)
{
    const sk_call *c = x->row.c;
    if (force || !c->types[sk_row_block(&x->row, 0).type].contig)
        x->copy = sk_scratch(s, sk_row_bytes(&x->row, 0, x->n));
}

sk_span sk_others_block(const sk_others *x, int i)
{
    sk_span block = sk_row_block(&x->row, i);
    if (!x->copy.len)
        return block;
    return sk_span_cut(x->row.c->types, x->copy, sk_row_bytes(&x->row, 0, i), block.len);
}

void sk_others_in(sk_sched *s, const sk_others *x)
{
    if (x->copy.len)
        sk_row_in(s, &x->row, 0, x->n, x->copy);
}

void sk_others_out(sk_sched *s, const sk_others *x)
{
    if (x->copy.len)
        sk_row_out(s, &x->row, 0, x->n, x->copy);
}

void sk_others_deal(sk_sched *s, const sk_others *x, const sk_deal *d, sk_hand h, int epoch)
{
    sk_span slot = sk_slot(epoch, 0, (h.hi - h.lo) * h.len);
    if (d->cuts > 1)
        sk_copy(s, sk_span_cut(x->row.c->types, sk_others_block(x, h.lo), h.from, h.len), slot);
    else if (x->copy.len)
        sk_copy(s, sk_span_cut(x->row.c->types, x->copy, h.lo * h.len, slot.len), slot);
    else
        sk_row_in(s, &x->row, h.lo, h.hi, slot);
}
