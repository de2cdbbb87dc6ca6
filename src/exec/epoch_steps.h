/* epoch_steps.h: the steps of epochs: what is done in the shared memory of the local ranks.
 *
 * The functions of the wire are an argument. run.c passes those of the wire at hand. A wire that runs
 * straight schedules by itself includes this file and passes constant functions, so that they are
 * inlined into one copy. */
#ifndef SK_EPOCH_STEPS_H
#define SK_EPOCH_STEPS_H

#include <string.h>

#include "base/attr.h"
#include "exec/run.h"
#include "shm/waiting.h"

/* ---- parts: spans with their addresses ---- */

/* Keep the first error; the run goes on. */
static inline void sk_run_note(sk_run *r, sk_status st)
{
    if (st != SK_OK && r->status == SK_OK)
        r->status = st;
}

/* By integer arithmetic: MPI_BOTTOM is a null pointer with real offsets. */
static inline sk_part sk_run_part_at(const void *buf, const sk_span *s)
{
    return (sk_part){(void *)((uintptr_t)buf + (uintptr_t)s->off), s->len, s->type};
}

/* A span in a slot; owner -1: my own slot. Where the wire has no such slot the part is empty. */
static inline sk_part sk_run_part_in_slot(sk_run *r, const sk_wire_ops *ops, const sk_span *s,
                                          int owner)
{
    const void *slot = ops->slot(r->wire, s->buf, owner);
    if (slot)
        return sk_run_part_at(slot, s);
    sk_run_note(r, SK_WIRE);
    return (sk_part){0};
}

/* `epochs` is a constant where this is inlined: in a schedule without epochs no span is in a slot. */
static inline sk_part sk_run_part(sk_run *r, const sk_wire_ops *ops, const sk_span *s, bool epochs)
{
    if (epochs && sk_buf_is_slot(s->buf))
        return sk_run_part_in_slot(r, ops, s, -1);
    return sk_run_part_at(r->buf[s->buf], s);
}

/* ---- steps ---- */

static SK_INLINED sk_part sk_epoch_part(sk_run *r, const sk_wire_ops *ops, const sk_span *s)
{
    return sk_run_part(r, ops, s, true);
}

/* ---- lengths of blocks in slots, before the blocks: see SK_LENGTH_BYTES ---- */

static inline void sk_run_put_length(void *block, int64_t len)
{
    if (block)
        memcpy((char *)block - SK_LENGTH_BYTES, &len, SK_LENGTH_BYTES);
}

/* Not inlined: the lengths are equal, where programs are right. */
__attribute__((noinline, unused)) static sk_status
sk_run_take_sized(sk_run *r, const sk_wire_ops *ops, sk_part from, sk_part to)
{
    int64_t len;
    if (!from.at)
        return SK_WIRE;
    memcpy(&len, (char *)from.at - SK_LENGTH_BYTES, SK_LENGTH_BYTES);
    if (len > to.len)
        return SK_TRUNCATE;
    from.len = to.len = len < 0 ? 0 : len;
    return to.len ? ops->copy(r->wire, from, to) : SK_OK;
}

static SK_INLINED sk_status sk_epoch_copy(sk_run *r, const sk_wire_ops *ops, const sk_step *st)
{
    sk_part to = sk_epoch_part(r, ops, &st->b);
    if (st->lo)
        sk_run_put_length(to.at, to.len);
    return ops->copy(r->wire, sk_epoch_part(r, ops, &st->a), to);
}

static SK_INLINED sk_status sk_epoch_take(sk_run *r, const sk_wire_ops *ops, const sk_step *st,
                                          bool block)
{
    sk_status got = st->peer < 0 ? ops->await(r->wire, st->packet, 0, -1, block)
                                 : ops->await_rank(r->wire, st->packet, st->peer, block);
    if (got != SK_OK)
        return got;
    sk_part from = sk_run_part_in_slot(r, ops, &st->a, st->peer),
            to = sk_epoch_part(r, ops, &st->b);
    return st->lo ? sk_run_take_sized(r, ops, from, to) : ops->copy(r->wire, from, to);
}

static SK_INLINED sk_status sk_epoch_read(sk_run *r, const sk_wire_ops *ops, const sk_step *st,
                                          bool block)
{
    sk_status got = ops->await_rank(r->wire, st->packet, st->peer, block);
    if (got != SK_OK)
        return got;
    sk_part handle = sk_run_part_in_slot(r, ops, &st->a, st->peer);
    if (!handle.at)
        return SK_WIRE;
    return ops->read(r->wire, st->peer, handle.at, sk_step_read_at(st),
                     sk_epoch_part(r, ops, &st->b));
}

static SK_INLINED sk_status sk_epoch_fold(sk_run *r, const sk_wire_ops *ops, const sk_step *st,
                                          bool block)
{
    sk_status got = ops->await(r->wire, st->packet, st->lo, st->hi, block);
    if (got != SK_OK)
        return got;
    return ops->fold(r->wire, st->packet, st->lo, st->hi, sk_run_part_at(NULL, &st->a),
                     sk_epoch_part(r, ops, &st->b));
}

static SK_INLINED void sk_epoch_export(sk_run *r, const sk_wire_ops *ops, const sk_step *st)
{
    sk_part handle = sk_run_part_in_slot(r, ops, &st->b, -1);
    if (handle.at)
        ops->export(r->wire, sk_run_part_at(r->buf[st->a.buf], &st->a), handle.at);
    if (st->lo)
        sk_run_put_length(handle.at, st->a.len);
}

/* Do a head or a waiting step of a round, or any step of a straight schedule. SK_AGAIN: it has to
 * wait for local ranks, and nothing was done. */
static SK_INLINED sk_status sk_epoch_step(sk_run *r, const sk_wire_ops *ops, const sk_step *st,
                                          bool block)
{
    switch (st->kind) {
    case SK_STEP_COPY:
        return sk_epoch_copy(r, ops, st);
    case SK_STEP_REDUCE:
        return ops->reduce(r->wire, sk_epoch_part(r, ops, &st->a), sk_epoch_part(r, ops, &st->b));
    case SK_STEP_EXPORT:
        sk_epoch_export(r, ops, st);
        return SK_OK;
    case SK_STEP_OPEN:
        return ops->open(r->wire, st->packet, block);
    case SK_STEP_POST:
        return ops->post(r->wire, st->packet, block);
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

static SK_INLINED void sk_epoch_release(sk_run *r, const sk_wire_ops *ops, uint32_t epochs)
{
    if (epochs > r->released)
        ops->release(r->wire, r->released = epochs);
}

/* The steps of a straight schedule, one after the other, from where the last call stopped: they are
 * stored in an order that the rounds allow. First release the epochs that this rank has no step in:
 * local ranks may wait for that. SK_AGAIN: never when `block` is set. */
static SK_INLINED sk_status sk_epoch_straight(sk_run *r, const sk_wire_ops *ops, bool block)
{
    const struct sk_sched_view *v = r->sched;
    sk_epoch_release(r, ops, v->rounds[0].released);
    for (const sk_step *st = v->steps + r->step, *end = v->steps + v->nsteps; st < end; st++) {
        sk_status got;
        SK_WAIT_REPEAT((got = sk_epoch_step(r, ops, st, block)) != SK_AGAIN || !block);
        if (!block && got == SK_AGAIN) {
            r->step = (uint32_t)(st - v->steps);
            return SK_AGAIN;
        }
        sk_run_note(r, got);
    }
    r->step = v->nsteps;
    r->round = v->nrounds;
    sk_epoch_release(r, ops, v->nepochs);
    return r->status;
}

#endif
