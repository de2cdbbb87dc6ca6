/* run_turns.c: steps of turns: what is done in the shared memory of node mates. */
#include "exec/run_steps.h"

static sk_status take(sk_run *r, const sk_step *st, bool block)
{
    const sk_wire_ops *ops = r->wire->ops;
    sk_status got = st->peer < 0 ? ops->await(r->wire, st->packet, 0, -1, block)
                                 : ops->await_rank(r->wire, st->packet, st->peer, block);
    if (got != SK_OK)
        return got;
    sk_part from = sk_run_part_in_bay(r, &st->a, st->peer);
    return ops->copy(r->wire, from, sk_run_part(r, &st->b, true));
}

static sk_status read_from(sk_run *r, const sk_step *st, bool block)
{
    const sk_wire_ops *ops = r->wire->ops;
    sk_status got = ops->await_rank(r->wire, st->packet, st->peer, block);
    if (got != SK_OK)
        return got;
    sk_part place = sk_run_part_in_bay(r, &st->a, st->peer);
    if (!place.at)
        return SK_WIRE;
    return ops->read(r->wire, st->peer, place.at, sk_step_read_at(st),
                     sk_run_part(r, &st->b, true));
}

static sk_status fold(sk_run *r, const sk_step *st, bool block)
{
    const sk_wire_ops *ops = r->wire->ops;
    sk_status got = ops->await(r->wire, st->packet, st->lo, st->hi, block);
    if (got != SK_OK)
        return got;
    return ops->fold(r->wire, st->packet, st->lo, st->hi, sk_run_part_at(NULL, &st->a),
                     sk_run_part(r, &st->b, true));
}

/* A step that may have to wait for mates: SK_AGAIN, and nothing is done. */
static sk_status wait_for(sk_run *r, const sk_step *st, bool block)
{
    const sk_wire_ops *ops = r->wire->ops;
    switch (st->kind) {
    case SK_STEP_OPEN:
        return ops->open(r->wire, st->packet, block);
    case SK_STEP_PUBLISH:
        ops->publish(r->wire, st->packet);
        return SK_OK;
    case SK_STEP_TAKE:
        return take(r, st, block);
    case SK_STEP_FOLD:
        return fold(r, st, block);
    case SK_STEP_JOIN:
        return ops->join(r->wire, st->packet, sk_run_part_at(NULL, &st->a),
                         sk_run_part(r, &st->b, true), block);
    case SK_STEP_MEET:
        return ops->await(r->wire, st->packet, st->lo, st->hi, block);
    case SK_STEP_READ:
        return read_from(r, st, block);
    case SK_STEP_SETTLE:
        return ops->settle(r->wire, st->packet, block);
    default:
        return SK_BADARG;
    }
}

sk_status sk_run_wait_steps(sk_run *r, uint32_t first, uint32_t n, bool block)
{
    const sk_step *st = &r->sched->steps[first];
    for (uint32_t i = r->step; i < n; i++) {
        sk_status got;
        while ((got = wait_for(r, &st[i], block)) == SK_AGAIN)
            if (!block) {
                r->step = i;
                return SK_AGAIN;
            }
        sk_run_note(r, got);
    }
    r->step = 0;
    return SK_OK;
}

void sk_run_wait_step(sk_run *r, const sk_step *st)
{
    sk_status got;
    while ((got = wait_for(r, st, true)) == SK_AGAIN)
        ;
    sk_run_note(r, got);
}

void sk_run_expose(sk_run *r, const sk_step *st)
{
    sk_part place = sk_run_part_in_bay(r, &st->b, -1);
    if (place.at)
        r->wire->ops->expose(r->wire, sk_run_part_at(r->buf[st->a.buf], &st->a), place.at);
}
