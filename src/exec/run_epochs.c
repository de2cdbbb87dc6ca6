/* run_epochs.c: epochs over any wire, and near messages. */
#include "exec/epoch_steps.h"

sk_status sk_run_wait_steps(sk_run *r, uint32_t first, uint32_t n, bool block)
{
    const sk_wire_ops *ops = r->wire->ops;
    const sk_step *st = &r->sched->steps[first];
    for (uint32_t i = r->step; i < n; i++) {
        sk_status got;
        while ((got = sk_epoch_step(r, ops, &st[i], block)) == SK_AGAIN)
            if (!block) {
                r->step = i;
                return SK_AGAIN;
            }
        sk_run_note(r, got);
    }
    r->step = 0;
    return SK_OK;
}

void sk_run_post_intra(sk_run *r, const sk_step *st)
{
    const sk_intra_ops *intra = r->wire->intra;
    r->intra = true;
    if (!intra)
        sk_run_note(r, SK_WIRE);
    else if (st->kind == SK_STEP_SEND)
        sk_run_note(r, intra->send(r->wire, sk_run_part(r, r->wire->ops, &st->a, true), st->peer));
    else
        sk_run_note(r, intra->recv(r->wire, sk_run_part(r, r->wire->ops, &st->b, true), st->peer));
}

void sk_run_end_intra(sk_run *r)
{
    const sk_intra_ops *intra = r->wire->intra;
    r->intra = false;
    if (intra && intra->finish)
        sk_run_note(r, intra->finish(r->wire));
}
