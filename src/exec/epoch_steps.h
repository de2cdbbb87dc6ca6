/* epoch_steps.h: steps of epochs: what is done in the shared memory of local ranks. The functions of
 * the wire are an argument: a wire that runs straight schedules by itself has a copy of this where
 * they are known and inlined; all others share the one in run_epochs.c. */
#ifndef SK_EPOCH_STEPS_H
#define SK_EPOCH_STEPS_H

#include "exec/run_inner.h"

#define SK_EPOCH_STEP static inline __attribute__((always_inline))

SK_EPOCH_STEP sk_part sk_epoch_part(sk_run *r, const sk_wire_ops *ops, const sk_span *s)
{
    return sk_run_part(r, ops, s, true);
}

SK_EPOCH_STEP sk_status sk_epoch_take(sk_run *r, const sk_wire_ops *ops, const sk_step *st,
                                      bool block)
{
    sk_status got = st->peer < 0 ? ops->await(r->wire, st->packet, 0, -1, block)
                                 : ops->await_rank(r->wire, st->packet, st->peer, block);
    if (got != SK_OK)
        return got;
    sk_part from = sk_run_part_in_slot(r, ops, &st->a, st->peer);
    return ops->copy(r->wire, from, sk_epoch_part(r, ops, &st->b));
}

SK_EPOCH_STEP sk_status sk_epoch_read(sk_run *r, const sk_wire_ops *ops, const sk_step *st,
                                      bool block)
{
    sk_status got = ops->await_rank(r->wire, st->packet, st->peer, block);
    if (got != SK_OK)
        return got;
    sk_part place = sk_run_part_in_slot(r, ops, &st->a, st->peer);
    if (!place.at)
        return SK_WIRE;
    return ops->read(r->wire, st->peer, place.at, sk_step_read_at(st),
                     sk_epoch_part(r, ops, &st->b));
}

SK_EPOCH_STEP sk_status sk_epoch_fold(sk_run *r, const sk_wire_ops *ops, const sk_step *st,
                                      bool block)
{
    sk_status got = ops->await(r->wire, st->packet, st->lo, st->hi, block);
    if (got != SK_OK)
        return got;
    return ops->fold(r->wire, st->packet, st->lo, st->hi, sk_run_part_at(NULL, &st->a),
                     sk_epoch_part(r, ops, &st->b));
}

SK_EPOCH_STEP void sk_epoch_export(sk_run *r, const sk_wire_ops *ops, const sk_step *st)
{
    sk_part place = sk_run_part_in_slot(r, ops, &st->b, -1);
    if (place.at)
        ops->export(r->wire, sk_run_part_at(r->buf[st->a.buf], &st->a), place.at);
}

/* A step that may have to wait for local ranks: SK_AGAIN, and nothing is done. Or one of those that stand
 * among them in a straight schedule. */
SK_EPOCH_STEP sk_status sk_epoch_step(sk_run *r, const sk_wire_ops *ops, const sk_step *st,
                                      bool block)
{
    switch (st->kind) {
    case SK_STEP_COPY:
        return ops->copy(r->wire, sk_epoch_part(r, ops, &st->a), sk_epoch_part(r, ops, &st->b));
    case SK_STEP_REDUCE:
        return ops->reduce(r->wire, sk_epoch_part(r, ops, &st->a), sk_epoch_part(r, ops, &st->b));
    case SK_STEP_EXPORT:
        sk_epoch_export(r, ops, st);
        return SK_OK;
    case SK_STEP_OPEN:
        return ops->open(r->wire, st->packet, block);
    case SK_STEP_POST:
        ops->post(r->wire, st->packet);
        return SK_OK;
    case SK_STEP_TAKE:
        return sk_epoch_take(r, ops, st, block);
    case SK_STEP_FOLD:
        return sk_epoch_fold(r, ops, st, block);
    case SK_STEP_JOIN:
        return ops->join(r->wire, st->packet, sk_run_part_at(NULL, &st->a),
                         sk_epoch_part(r, ops, &st->b), block);
    case SK_STEP_AWAIT:
        return ops->await(r->wire, st->packet, st->lo, st->hi, block);
    case SK_STEP_READ:
        return sk_epoch_read(r, ops, st, block);
    case SK_STEP_QUIESCE:
        return ops->quiesce(r->wire, st->packet, block);
    default:
        return SK_BADARG;
    }
}

SK_EPOCH_STEP void sk_epoch_release(sk_run *r, const sk_wire_ops *ops, uint32_t epochs)
{
    if (epochs > r->released)
        ops->release(r->wire, r->released = epochs);
}

/* All steps of a straight schedule. The rounds only say in which order steps may be done, and so
 * they stand. Local ranks may wait for this rank to pass the epochs that it has no part in. */
SK_EPOCH_STEP sk_status sk_epoch_straight(sk_run *r, const sk_wire_ops *ops)
{
    const struct sk_sched_view *v = r->sched;
    sk_epoch_release(r, ops, v->rounds[0].released);
    for (const sk_step *st = v->steps, *end = st + v->nsteps; st < end; st++) {
        sk_status got;
        while ((got = sk_epoch_step(r, ops, st, true)) == SK_AGAIN)
            ;
        sk_run_note(r, got);
    }
    r->round = v->nrounds;
    sk_epoch_release(r, ops, v->nepochs);
    return r->status;
}

#endif
