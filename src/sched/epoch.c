/* turn.c: steps of turns, the shared memory of node mates. */
#include "sched/sched_inner.h"

enum { BAY_ALIGN = 64 };

static int add_turn(sk_sched *s, sk_turn_room turn)
{
    uint32_t n = s->v.nturns;
    if (turn.room < SK_NO_PART || turn.room > INT64_MAX - BAY_ALIGN || n >= SK_MAX_ROOMS) {
        sk_sched_fail(s, SK_TOOBIG);
        return 0;
    }
    void *turns = s->turns;
    if (!sk_sched_grow(s, &turns, sizeof *s->turns, n, s->turn_cap))
        return 0;
    s->turns = turns;
    s->turn_cap = sk_sched_grown(n, s->turn_cap);
    s->turns[n] = turn;
    s->v.nturns++;
    return (int)n;
}

int sk_turn(sk_sched *s, int64_t room, bool all)
{
    return add_turn(s, (sk_turn_room){.room = room, .all = all, .together = all});
}

int sk_turn_together(sk_sched *s, int64_t room)
{
    return add_turn(s, (sk_turn_room){.room = room, .together = true});
}

static uint32_t buf_of(int turn, uint32_t which)
{
    return (uint32_t)turn << SK_BUF_BITS | which;
}

sk_span sk_bay(int turn, int64_t at, int64_t len)
{
    return (sk_span){.off = at, .len = len, .buf = buf_of(turn, SK_BAY)};
}

sk_span sk_common(int turn, int64_t at, int64_t len)
{
    return (sk_span){.off = at, .len = len, .buf = buf_of(turn, SK_COMMON)};
}

sk_span sk_bay_typed(const sk_type *types, uint32_t type, int turn, int64_t at, int64_t count)
{
    int64_t lo, hi;
    sk_type_bounds(&types[type], count, &lo, &hi);
    return (sk_span){
        .off = at - lo, .len = count * types[type].size, .type = type, .buf = buf_of(turn, SK_BAY)};
}

int64_t sk_bay_room(const sk_type *t, int64_t count)
{
    int64_t lo, hi;
    sk_type_bounds(t, count, &lo, &hi);
    return (hi - lo + BAY_ALIGN - 1) / BAY_ALIGN * BAY_ALIGN;
}

bool sk_sched_bay_ok(const sk_sched *s, const sk_span *sp)
{
    uint32_t turn = sk_buf_turn(sp->buf);
    if (turn >= s->v.nturns || (sp->buf & SK_BUF_MASK) > SK_COMMON)
        return false;
    const sk_type *t = &s->types[sp->type];
    int64_t lo = 0, hi = sp->len, room = s->turns[turn].room;
    if (!t->contig)
        sk_type_bounds(t, sp->len / t->size, &lo, &hi);
    return sp->off >= -lo && sp->off <= room - hi;
}

static void turn_step(sk_sched *s, sk_step st, int turn)
{
    if (turn < 0 || (uint32_t)turn >= s->v.nturns || st.lo < 0) {
        sk_sched_fail(s, SK_BADARG);
        return;
    }
    st.packet = (uint32_t)turn & SK_MAX_ROOMS;
    sk_sched_append(s, &st);
}

/* A step that reads bays of others. */
static void bay_step(sk_sched *s, sk_step st)
{
    if (sk_buf_is_bay(st.a.buf))
        turn_step(s, st, (int)sk_buf_turn(st.a.buf));
    else
        sk_sched_fail(s, SK_BADARG);
}

void sk_publish(sk_sched *s, int turn)
{
    turn_step(s, (sk_step){.kind = SK_STEP_PUBLISH, .peer = -1}, turn);
}

void sk_take(sk_sched *s, int owner, sk_span bay, sk_span to)
{
    bool common = (bay.buf & SK_BUF_MASK) == SK_COMMON;
    if (bay.len != to.len || (to.len && owner < 0 && !common))
        sk_sched_fail(s, SK_BADARG);
    else if (to.len)
        bay_step(s,
                 (sk_step){.kind = SK_STEP_TAKE, .peer = common ? -1 : owner, .a = bay, .b = to});
}

static bool alike(const sk_span *bay, const sk_span *to)
{
    return bay->len == to->len && bay->type == to->type && (bay->buf & SK_BUF_MASK) == SK_BAY;
}

void sk_fold_mates(sk_sched *s, int lo, int hi, sk_span bay, sk_span to)
{
    if (bay.len == 0 && to.len == 0)
        return;
    if (!alike(&bay, &to) || lo >= hi)
        sk_sched_fail(s, SK_BADARG);
    else
        bay_step(
            s, (sk_step){.kind = SK_STEP_FOLD, .peer = -1, .lo = lo, .hi = hi, .a = bay, .b = to});
}

void sk_join_mates(sk_sched *s, sk_span bay, sk_span to)
{
    if (bay.len == 0 && to.len == 0)
        return;
    if (!alike(&bay, &to))
        sk_sched_fail(s, SK_BADARG);
    else
        bay_step(s, (sk_step){.kind = SK_STEP_JOIN, .peer = -1, .a = bay, .b = to});
}

void sk_meet_mates(sk_sched *s, int turn, int lo, int hi)
{
    if (lo > hi)
        sk_sched_fail(s, SK_BADARG);
    else
        turn_step(s, (sk_step){.kind = SK_STEP_MEET, .peer = -1, .lo = lo, .hi = hi}, turn);
}

static bool is_place(const sk_span *s)
{
    return sk_buf_is_bay(s->buf) && s->len == SK_PLACE && s->type == SK_TYPE_BYTE;
}

static bool contiguous(const sk_sched *s, const sk_span *sp)
{
    return sp->type < s->v.ntypes && s->types[sp->type].contig;
}

void sk_expose(sk_sched *s, sk_span from, sk_span place)
{
    if (from.len == 0)
        return;
    if (!is_place(&place) || !contiguous(s, &from) || sk_buf_is_bay(from.buf))
        sk_sched_fail(s, SK_BADARG);
    else
        turn_step(s, (sk_step){.kind = SK_STEP_EXPOSE, .peer = -1, .a = from, .b = place},
                  (int)sk_buf_turn(place.buf));
}

void sk_read(sk_sched *s, int owner, sk_span place, int64_t at, sk_span to)
{
    if (to.len == 0)
        return;
    if (!is_place(&place) || !contiguous(s, &to) || at < 0 || owner < 0)
        sk_sched_fail(s, SK_BADARG);
    else
        sk_sched_append(s, &(sk_step){.kind = SK_STEP_READ,
                                      .packet = sk_buf_turn(place.buf) & SK_MAX_ROOMS,
                                      .peer = owner,
                                      .lo = (int32_t)(uint32_t)at,
                                      .hi = (int32_t)(at >> 32),
                                      .a = place,
                                      .b = to});
}

static void near_step(sk_sched *s, sk_step st, const sk_span *bytes)
{
    st.packet = 1;
    if (bytes->len == 0)
        return;
    if (!s->v.nturns || !contiguous(s, bytes))
        sk_sched_fail(s, SK_BADARG);
    else
        sk_sched_append(s, &st);
}

void sk_send_near(sk_sched *s, sk_span from, int peer)
{
    near_step(s, (sk_step){.kind = SK_STEP_SEND, .peer = peer, .a = from}, &from);
}

void sk_recv_near(sk_sched *s, sk_span to, int peer)
{
    near_step(s, (sk_step){.kind = SK_STEP_RECV, .peer = peer, .b = to}, &to);
}

void sk_settle(sk_sched *s, int turn)
{
    turn_step(s, (sk_step){.kind = SK_STEP_SETTLE, .peer = -1}, turn);
}
