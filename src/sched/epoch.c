/* epoch.c: append the steps of epochs. */
#include "sched/sched_inner.h"

enum { SLOT_ALIGN = 64 };

static int add_epoch(sk_sched *s, sk_epoch_info epoch)
{
    uint32_t n = s->v.nepochs;
    if (epoch.slot_bytes < SK_NO_PART || epoch.slot_bytes > INT64_MAX - SLOT_ALIGN ||
        n >= SK_MAX_PACKETS) {
        sk_sched_fail(s, SK_TOOBIG);
        return 0;
    }
    void *epochs = s->epochs;
    if (!sk_sched_grow(s, &epochs, sizeof *s->epochs, n, s->epoch_cap))
        return 0;
    s->epochs = epochs;
    s->epoch_cap = sk_sched_grown(n, s->epoch_cap);
    s->epochs[n] = epoch;
    s->v.nepochs++;
    return (int)n;
}

int sk_epoch(sk_sched *s, int64_t slot_bytes, bool all)
{
    return add_epoch(s, (sk_epoch_info){.slot_bytes = slot_bytes, .all = all, .together = all});
}

int sk_epoch_together(sk_sched *s, int64_t slot_bytes)
{
    return add_epoch(s, (sk_epoch_info){.slot_bytes = slot_bytes, .together = true});
}

static uint32_t buf_of(int epoch, uint32_t which)
{
    return (uint32_t)epoch << SK_BUF_BITS | which;
}

sk_span sk_slot(int epoch, int64_t at, int64_t len)
{
    return (sk_span){.off = at, .len = len, .buf = buf_of(epoch, SK_SLOT)};
}

sk_span sk_common(int epoch, int64_t at, int64_t len)
{
    return (sk_span){.off = at, .len = len, .buf = buf_of(epoch, SK_COMMON)};
}

sk_span sk_slot_typed(const sk_type *types, uint32_t type, int epoch, int64_t at, int64_t count)
{
    int64_t lo, hi;
    sk_type_bounds(&types[type], count, &lo, &hi);
    return (sk_span){.off = at - lo,
                     .len = count * types[type].size,
                     .type = type,
                     .buf = buf_of(epoch, SK_SLOT)};
}

int64_t sk_slot_bytes(const sk_type *t, int64_t count)
{
    int64_t lo, hi;
    sk_type_bounds(t, count, &lo, &hi);
    return (hi - lo + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
}

static void epoch_step(sk_sched *s, sk_step st, int epoch)
{
    if (epoch < 0 || (uint32_t)epoch >= s->v.nepochs || st.lo < 0) {
        sk_sched_fail(s, SK_BADARG);
        return;
    }
    st.packet = (uint32_t)epoch & SK_MAX_PACKETS;
    sk_sched_append(s, &st);
}

/* A step that reads the slots of other ranks. */
static void slot_step(sk_sched *s, sk_step st)
{
    if (sk_buf_is_slot(st.a.buf))
        epoch_step(s, st, (int)sk_buf_epoch(st.a.buf));
    else
        sk_sched_fail(s, SK_BADARG);
}

void sk_post(sk_sched *s, int epoch)
{
    epoch_step(s, (sk_step){.kind = SK_STEP_POST, .peer = -1}, epoch);
}

void sk_take(sk_sched *s, int owner, sk_span slot, sk_span to)
{
    bool common = (slot.buf & SK_BUF_MASK) == SK_COMMON;
    if (slot.len != to.len || (to.len && owner < 0 && !common))
        sk_sched_fail(s, SK_BADARG);
    else if (to.len)
        slot_step(s,
                  (sk_step){.kind = SK_STEP_TAKE, .peer = common ? -1 : owner, .a = slot, .b = to});
}

/* Mark the step that was just appended as one of a block with its length before it. */
static void mark_sized(sk_sched *s, const sk_span *slot)
{
    if (s->status == SK_OK && slot->len && slot->off >= SK_LENGTH_BYTES)
        s->steps[s->v.nsteps - 1].lo = 1;
    else if (slot->len)
        sk_sched_fail(s, SK_BADARG);
}

void sk_copy_sized(sk_sched *s, sk_span from, sk_span slot)
{
    sk_copy(s, from, slot);
    mark_sized(s, &slot);
}

void sk_take_sized(sk_sched *s, int owner, sk_span slot, sk_span to)
{
    sk_take(s, owner, slot, to);
    mark_sized(s, &slot);
}

static bool alike(const sk_span *slot, const sk_span *to)
{
    return slot->len == to->len && slot->type == to->type && (slot->buf & SK_BUF_MASK) == SK_SLOT;
}

void sk_fold_local(sk_sched *s, int lo, int hi, sk_span slot, sk_span to)
{
    if (slot.len == 0 && to.len == 0)
        return;
    if (!alike(&slot, &to) || lo >= hi)
        sk_sched_fail(s, SK_BADARG);
    else
        slot_step(
            s, (sk_step){.kind = SK_STEP_FOLD, .peer = -1, .lo = lo, .hi = hi, .a = slot, .b = to});
}

void sk_join_local(sk_sched *s, sk_span slot, sk_span to)
{
    if (slot.len == 0 && to.len == 0)
        return;
    if (!alike(&slot, &to))
        sk_sched_fail(s, SK_BADARG);
    else
        slot_step(s, (sk_step){.kind = SK_STEP_JOIN, .peer = -1, .a = slot, .b = to});
}

void sk_await_local(sk_sched *s, int epoch, int lo, int hi)
{
    if (lo > hi)
        sk_sched_fail(s, SK_BADARG);
    else
        epoch_step(s, (sk_step){.kind = SK_STEP_AWAIT, .peer = -1, .lo = lo, .hi = hi}, epoch);
}

static bool is_handle(const sk_span *s)
{
    return sk_buf_is_slot(s->buf) && s->len == SK_EXPORT_BYTES && s->type == SK_TYPE_BYTE;
}

static bool contiguous(const sk_sched *s, const sk_span *sp)
{
    return sp->type < s->v.ntypes && s->types[sp->type].contig;
}

void sk_export(sk_sched *s, sk_span from, sk_span handle)
{
    if (from.len == 0)
        return;
    if (!is_handle(&handle) || !contiguous(s, &from) || sk_buf_is_slot(from.buf))
        sk_sched_fail(s, SK_BADARG);
    else
        epoch_step(s, (sk_step){.kind = SK_STEP_EXPORT, .peer = -1, .a = from, .b = handle},
                   (int)sk_buf_epoch(handle.buf));
}

void sk_export_sized(sk_sched *s, sk_span from, sk_span handle)
{
    sk_export(s, from, handle);
    if (from.len)
        mark_sized(s, &handle);
}

void sk_read(sk_sched *s, int owner, sk_span handle, int64_t at, sk_span to)
{
    if (to.len == 0)
        return;
    if (!is_handle(&handle) || !contiguous(s, &to) || at < 0 || owner < 0)
        sk_sched_fail(s, SK_BADARG);
    else
        sk_sched_append(s, &(sk_step){.kind = SK_STEP_READ,
                                      .packet = sk_buf_epoch(handle.buf) & SK_MAX_PACKETS,
                                      .peer = owner,
                                      .lo = (int32_t)(uint32_t)at,
                                      .hi = (int32_t)(at >> 32),
                                      .a = handle,
                                      .b = to});
}

static void intra_step(sk_sched *s, sk_step st, const sk_span *bytes)
{
    st.packet = 1;
    if (bytes->len == 0)
        return;
    if (!s->v.nepochs || !contiguous(s, bytes))
        sk_sched_fail(s, SK_BADARG);
    else
        sk_sched_append(s, &st);
}

void sk_send_intra(sk_sched *s, sk_span from, int peer)
{
    intra_step(s, (sk_step){.kind = SK_STEP_SEND, .peer = peer, .a = from}, &from);
}

void sk_recv_intra(sk_sched *s, sk_span to, int peer)
{
    intra_step(s, (sk_step){.kind = SK_STEP_RECV, .peer = peer, .b = to}, &to);
}

void sk_quiesce(sk_sched *s, int epoch)
{
    epoch_step(s, (sk_step){.kind = SK_STEP_QUIESCE, .peer = -1}, epoch);
}
