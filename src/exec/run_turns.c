/* run_turns.c: steps of turns: what is done in the shared memory of node mates. */
#include "exec/run_steps.h"

/* Twice in the code: where a run waits it need not ask whether it does. */
#define FOR_BOTH static inline __attribute__((always_inline))

FOR_BOTH sk_status take(sk_run *r, const sk_step *st, bool block)
{
    const sk_wire_ops *ops = r->wire->ops;
    const sk_near_ops *near = r->wire->near;
    if (block && st->peer >= 0 && near && near->take)
        return near->take(r->wire, st->packet, st->peer, sk_run_part_at(NULL, &st->a),
                          sk_run_part(r, &st->b, true));
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

/* A step that may have to wait for mates: SK_AGAIN, and nothing is done. Or one of those that stand
 * among them in a straight schedule. */
FOR_BOTH sk_status do_step(sk_run *r, const sk_step *st, bool block)
{
    const sk_wire_ops *ops = r->wire->ops;
    switch (st->kind) {
    case SK_STEP_COPY:
        return ops->copy(r->wire, sk_run_part(r, &st->a, true), sk_run_part(r, &st->b, true));
    case SK_STEP_REDUCE:
        return ops->reduce(r->wire, sk_run_part(r, &st->a, true), sk_run_part(r, &st->b, true));
    case SK_STEP_EXPOSE:
        sk_run_expose(r, st);
        return SK_OK;
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
        while ((got = do_step(r, &st[i], block)) == SK_AGAIN)
            if (!block) {
                r->step = i;
                return SK_AGAIN;
            }
        sk_run_note(r, got);
    }
    r->step = 0;
    return SK_OK;
}

/* The rounds only say in which order steps may be done, and so they stand. Mates may wait for this
 * rank to pass the turns that it has no part in. */
void sk_run_straight(sk_run *r)
{
    const struct sk_sched_view *v = r->sched;
    sk_run_pass(r, v->rounds[0].passed);
    for (const sk_step *st = v->steps, *end = st + v->nsteps; st < end; st++) {
        sk_status got;
        while ((got = do_step(r, st, true)) == SK_AGAIN)
            ;
        sk_run_note(r, got);
    }
    r->round = v->nrounds;
    sk_run_pass(r, v->nturns);
}

void sk_run_post_near(sk_run *r, const sk_step *st)
{
    const sk_near_ops *near = r->wire->near;
    r->near = true;
    if (!near)
        sk_run_note(r, SK_WIRE);
    else if (st->kind == SK_STEP_SEND)
        sk_run_note(r, near->send(r->wire, sk_run_part(r, &st->a, true), st->peer));
    else
        sk_run_note(r, near->recv(r->wire, sk_run_part(r, &st->b, true), st->peer));
}

void sk_run_end_near(sk_run *r)
{
    const sk_near_ops *near = r->wire->near;
    r->near = false;
    if (near && near->finish)
        sk_run_note(r, near->finish(r->wire));
}

void sk_run_expose(sk_run *r, const sk_step *st)
{
    sk_part place = sk_run_part_in_bay(r, &st->b, -1);
    if (place.at)
        r->wire->ops->expose(r->wire, sk_run_part_at(r->buf[st->a.buf], &st->a), place.at);
}
