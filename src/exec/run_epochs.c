/* run_turns.c: turns over any wire, and near messages. */
#include "exec/epoch_steps.h"

sk_status sk_run_wait_steps(sk_run *r, uint32_t first, uint32_t n, bool block)
{
    const sk_wire_ops *ops = r->wire->ops;
    const sk_step *st = &r->sched->steps[first];
    for (uint32_t i = r->step; i < n; i++) {
        sk_status got;
        while ((got = sk_turn_step(r, ops, &st[i], block)) == SK_AGAIN)
            if (!block) {
                r->step = i;
                return SK_AGAIN;
            }
        sk_run_note(r, got);
    }
    r->step = 0;
    return SK_OK;
}

void sk_run_post_near(sk_run *r, const sk_step *st)
{
    const sk_near_ops *near = r->wire->near;
    r->near = true;
    if (!near)
        sk_run_note(r, SK_WIRE);
    else if (st->kind == SK_STEP_SEND)
        sk_run_note(r, near->send(r->wire, sk_run_part(r, r->wire->ops, &st->a, true), st->peer));
    else
        sk_run_note(r, near->recv(r->wire, sk_run_part(r, r->wire->ops, &st->b, true), st->peer));
}

void sk_run_end_near(sk_run *r)
{
    const sk_near_ops *near = r->wire->near;
    r->near = false;
    if (near && near->finish)
        sk_run_note(r, near->finish(r->wire));
}
