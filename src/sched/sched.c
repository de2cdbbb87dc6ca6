/* sched.c: build a schedule: append steps, allocate scratch and packets. */
#include <stdlib.h>
#include <string.h>

#include "sched/packet.h"
#include "sched/sched_inner.h"

enum { SCRATCH_ALIGN = 64 };

sk_sched *sk_sched_new(const sk_type *types, uint32_t ntypes)
{
    sk_sched *s = calloc(1, sizeof *s + ntypes * sizeof *types);
    if (!s)
        return NULL;
    memcpy(s->types, types, ntypes * sizeof *types);
    s->v.types = s->types;
    s->v.ntypes = ntypes;
    return s;
}

sk_sched *sk_sched_new_in(const sk_type *types, uint32_t ntypes, sk_sched_buffer *buffer)
{
    sk_sched *s = sk_sched_new(types, ntypes);
    if (!s)
        return NULL;
    s->buffer = buffer;
    s->steps = buffer->steps;
    s->round_of = buffer->round_of;
    s->epochs = buffer->epochs;
    s->cap = s->epoch_cap = SK_SCHED_BUFFER;
    return s;
}

void sk_sched_free(sk_sched *s)
{
    if (!s)
        return;
    sk_sched_drop(s, s->steps);
    sk_sched_drop(s, s->round_of);
    free(s->packets);
    if (!s->v.steps) /* else they are behind the steps */
        sk_sched_drop(s, s->epochs);
    free(s);
}

void sk_sched_fail(sk_sched *s, sk_status why)
{
    if (!s->status)
        s->status = why;
}

bool sk_sched_grow(sk_sched *s, void **array, size_t size, uint32_t n, uint32_t cap)
{
    if (n < cap)
        return true;
    if (cap > UINT32_MAX / 2) {
        sk_sched_fail(s, SK_TOOBIG);
        return false;
    }
    bool in_buffer = sk_sched_in_buffer(s, *array);
    void *p = realloc(in_buffer ? NULL : *array, (size_t)sk_sched_grown(n, cap) * size);
    if (p && in_buffer)
        memcpy(p, *array, n * size);
    if (!p) {
        sk_sched_fail(s, SK_NOMEM);
        return false;
    }
    *array = p;
    return true;
}

/* Is this span inside the slots of its epoch? */
static bool slot_ok(const sk_sched *s, const sk_span *sp)
{
    uint32_t epoch = sk_buf_epoch(sp->buf);
    if (epoch >= s->v.nepochs || (sp->buf & SK_BUF_MASK) > SK_COMMON)
        return false;
    const sk_type *t = &s->types[sp->type];
    int64_t lo = 0, hi = sp->len, size = s->epochs[epoch].slot_bytes;
    if (!t->contig)
        sk_type_bounds(t, sp->len / t->size, &lo, &hi);
    return sp->off >= -lo && sp->off <= size - hi;
}

static bool span_ok(const sk_sched *s, const sk_span *sp)
{
    if (sp->type >= s->v.ntypes || sp->len < 0)
        return false;
    const sk_type *t = &s->types[sp->type];
    if (!t->contig && (t->size <= 0 || sp->len % t->size))
        return false;
    return sp->buf < SK_NBUFS || (sk_buf_is_slot(sp->buf) && slot_ok(s, sp));
}

void sk_sched_append(sk_sched *s, const sk_step *st)
{
    if (s->status)
        return;
    if ((st->a.len && !span_ok(s, &st->a)) || (st->b.len && !span_ok(s, &st->b)) || st->peer < -1) {
        sk_sched_fail(s, SK_BADARG);
        return;
    }
    uint32_t n = s->v.nsteps;
    void *steps = s->steps, *round_of = s->round_of;
    bool ok = sk_sched_grow(s, &steps, sizeof *s->steps, n, s->cap);
    s->steps = steps;
    ok = ok && sk_sched_grow(s, &round_of, sizeof *s->round_of, n, s->cap);
    s->round_of = round_of;
    if (!ok)
        return;
    s->cap = sk_sched_grown(n, s->cap);
    s->steps[n] = *st;
    s->round_of[n] = s->round;
    s->v.nsteps++;
    s->round_used = true;
}

void sk_send(sk_sched *s, sk_span from, int peer)
{
    if (from.len)
        sk_sched_append(s, &(sk_step){.kind = SK_STEP_SEND, .peer = peer, .a = from});
}

void sk_recv(sk_sched *s, sk_span to, int peer)
{
    if (to.len)
        sk_sched_append(s, &(sk_step){.kind = SK_STEP_RECV, .peer = peer, .b = to});
}

void sk_copy(sk_sched *s, sk_span from, sk_span to)
{
    if (from.len != to.len)
        sk_sched_fail(s, SK_BADARG);
    else if (from.len && !(from.buf == to.buf && from.off == to.off && from.type == to.type))
        sk_sched_append(s, &(sk_step){.kind = SK_STEP_COPY, .peer = -1, .a = from, .b = to});
}

void sk_reduce(sk_sched *s, sk_span in, sk_span inout)
{
    if (in.len != inout.len || in.type != inout.type)
        sk_sched_fail(s, SK_BADARG);
    else if (in.len)
        sk_sched_append(s, &(sk_step){.kind = SK_STEP_REDUCE, .peer = -1, .a = in, .b = inout});
}

void sk_fence(sk_sched *s)
{
    if (s->round_used)
        s->round++;
    s->round_used = false;
}

void sk_send_signal(sk_sched *s, int peer)
{
    sk_sched_append(s, &(sk_step){.kind = SK_STEP_SEND, .peer = peer});
}

void sk_recv_signal(sk_sched *s, int peer)
{
    sk_sched_append(s, &(sk_step){.kind = SK_STEP_RECV, .peer = peer});
}

static int64_t take_scratch(sk_sched *s, int64_t bytes)
{
    if (bytes < 0 || bytes > INT64_MAX - s->v.scratch - SCRATCH_ALIGN) {
        sk_sched_fail(s, SK_TOOBIG);
        return 0;
    }
    int64_t off = s->v.scratch;
    s->v.scratch += (bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
    return off;
}

sk_span sk_scratch(sk_sched *s, int64_t bytes)
{
    return (sk_span){.off = take_scratch(s, bytes), .len = bytes, .buf = SK_SCRATCH};
}

sk_span sk_scratch_typed(sk_sched *s, uint32_t type, int64_t count)
{
    const sk_type *t = &s->types[type];
    int64_t lo, hi;
    sk_type_bounds(t, count, &lo, &hi);
    return (sk_span){.off = take_scratch(s, hi - lo) - lo,
                     .len = count * t->size,
                     .type = type,
                     .buf = SK_SCRATCH};
}

int sk_packet(sk_sched *s, int records, int64_t bytes)
{
    uint32_t n = s->v.npackets;
    if (records < 0 || n >= SK_MAX_PACKETS) {
        sk_sched_fail(s, SK_TOOBIG);
        return 0;
    }
    void *packets = s->packets;
    if (!sk_sched_grow(s, &packets, sizeof *s->packets, n, s->packet_cap))
        return 0;
    s->packets = packets;
    s->packet_cap = sk_sched_grown(n, s->packet_cap);
    int64_t cap = sk_packet_bytes(records, bytes);
    s->packets[n] = (sk_packet_info){.off = take_scratch(s, cap), .cap = cap};
    s->v.npackets++;
    return (int)n;
}

static void packet_step(sk_sched *s, sk_step st, int packet)
{
    if (packet < 0 || (uint32_t)packet >= s->v.npackets) {
        sk_sched_fail(s, SK_BADARG);
        return;
    }
    st.packet = (uint32_t)packet & SK_MAX_PACKETS;
    sk_sched_append(s, &st);
}

void sk_put(sk_sched *s, int packet, int key, sk_span from)
{
    packet_step(s, (sk_step){.kind = SK_STEP_PUT, .peer = -1, .lo = key, .a = from}, packet);
}

void sk_packet_send(sk_sched *s, int packet, int lo, int hi, int peer)
{
    packet_step(s, (sk_step){.kind = SK_STEP_PSEND, .peer = peer, .lo = lo, .hi = hi}, packet);
}

void sk_packet_recv(sk_sched *s, int packet, int peer)
{
    packet_step(s, (sk_step){.kind = SK_STEP_PRECV, .peer = peer}, packet);
}

void sk_get(sk_sched *s, int packet, int key, sk_span to)
{
    packet_step(s, (sk_step){.kind = SK_STEP_GET, .peer = -1, .lo = key, .b = to}, packet);
}

/* With a length before the slot's block, of which this rank knows no more. */
static void sized_step(sk_sched *s, sk_step st, int packet, const sk_span *slot)
{
    if (!sk_buf_is_slot(slot->buf) || slot->len == 0 || slot->off < SK_LENGTH_BYTES)
        sk_sched_fail(s, SK_BADARG);
    else
        packet_step(s, st, packet);
}

void sk_put_sized(sk_sched *s, int packet, int key, sk_span slot)
{
    sized_step(s, (sk_step){.kind = SK_STEP_PUT, .peer = -1, .lo = key, .hi = 1, .a = slot}, packet,
               &slot);
}

void sk_get_sized(sk_sched *s, int packet, int key, sk_span slot)
{
    sized_step(s, (sk_step){.kind = SK_STEP_GET, .peer = -1, .lo = key, .hi = 1, .b = slot}, packet,
               &slot);
}

void sk_relay(sk_sched *s, int from, int key, int to, int new_key)
{
    if (to < 0 || (uint32_t)to >= s->v.npackets || to == from)
        sk_sched_fail(s, SK_BADARG);
    packet_step(s, (sk_step){.kind = SK_STEP_RELAY, .peer = new_key, .lo = key, .hi = to}, from);
}

const struct sk_sched_view *sk_sched_view(const sk_sched *s)
{
    return &s->v;
}

/* ---- renaming ---- */

/* Is the `peer` of this step a rank? In others it is -1 or a key. */
static bool names_a_rank(const sk_step *st)
{
    switch (st->kind) {
    case SK_STEP_RECV:
    case SK_STEP_SEND:
    case SK_STEP_PRECV:
    case SK_STEP_PSEND:
    case SK_STEP_TAKE:
    case SK_STEP_READ:
        return st->peer >= 0;
    default:
        return false;
    }
}

void sk_sched_name_peers(sk_sched *s, const int *rank_of, int nranks)
{
    for (uint32_t i = 0; i < s->v.nsteps && !s->status; i++) {
        sk_step *st = &s->steps[i];
        if (!names_a_rank(st))
            continue;
        if (st->peer < nranks)
            st->peer = rank_of[st->peer];
        else
            sk_sched_fail(s, SK_BADARG);
    }
}
