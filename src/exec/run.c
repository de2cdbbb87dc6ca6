/* run.c: walk the rounds of a schedule: start its transfers, do its local steps, wait for the
 * transfers, next round. Schedules with epochs have a walk of their own, so that the others do not
 * pay for them. */
#include <string.h>

#include "exec/epoch_steps.h"

void sk_run_init(sk_run *r, const sk_sched *s, sk_wire *w, void *send, void *recv, void *scratch,
                 void *packets)
{
    const struct sk_sched_view *v = sk_sched_view(s);
    *r = (sk_run){.sched = v, .wire = w, .buf = {send, recv, scratch}};
    if (v->npackets) {
        r->packet_used = packets;
        r->packet_got = r->packet_used + v->npackets;
        memset(packets, 0, (size_t)sk_run_packet_bytes(s));
    }
}

/* Twice in the code, with and without epochs, so that those without never ask. */
#define FOR_BOTH static inline __attribute__((always_inline))

FOR_BOTH void post(sk_run *r, const sk_step *st, bool epochs)
{
    const sk_wire_ops *ops = r->wire->ops;
    switch (st->kind) {
    case SK_STEP_RECV:
        if (epochs && st->packet)
            sk_run_post_intra(r, st);
        else
            sk_run_note(r, ops->recv(r->wire, sk_run_part(r, ops, &st->b, epochs), st->peer, NULL));
        break;
    case SK_STEP_SEND:
        if (epochs && st->packet)
            sk_run_post_intra(r, st);
        else
            sk_run_note(r, ops->send(r->wire, sk_run_part(r, ops, &st->a, epochs), st->peer));
        break;
    case SK_STEP_PRECV: {
        sk_part room = sk_run_packet_room(r, st->packet);
        r->packet_got[st->packet] = 0;
        sk_run_note(r, ops->recv(r->wire, room, st->peer, &r->packet_got[st->packet]));
        break;
    }
    case SK_STEP_PSEND:
        sk_run_note(r, ops->send(r->wire, sk_run_packet_part(r, st), st->peer));
        break;
    default:
        break;
    }
}

FOR_BOTH void work(sk_run *r, const sk_step *st, bool epochs)
{
    const sk_wire_ops *ops = r->wire->ops;
    switch (st->kind) {
    case SK_STEP_COPY:
        sk_run_note(r, ops->copy(r->wire, sk_run_part(r, ops, &st->a, epochs),
                                 sk_run_part(r, ops, &st->b, epochs)));
        break;
    case SK_STEP_REDUCE:
        sk_run_note(r, ops->reduce(r->wire, sk_run_part(r, ops, &st->a, epochs),
                                   sk_run_part(r, ops, &st->b, epochs)));
        break;
    case SK_STEP_PUT:
        sk_run_put(r, st->packet, st->lo, sk_run_part(r, ops, &st->a, epochs));
        break;
    case SK_STEP_GET:
        sk_run_get(r, st, sk_run_part(r, ops, &st->b, epochs));
        break;
    case SK_STEP_RELAY:
        sk_run_relay(r, st);
        break;
    case SK_STEP_EXPORT:
        if (epochs)
            sk_epoch_export(r, ops, st);
        break;
    default:
        break;
    }
}

FOR_BOTH void start_round(sk_run *r, const sk_round *rd, bool epochs)
{
    const sk_step *st = &r->sched->steps[rd->first + (epochs ? rd->nhead : 0)];
    uint32_t transfers = rd->nrecv + rd->nsend;
    for (uint32_t i = 0; i < transfers; i++)
        post(r, &st[i], epochs);
    for (uint32_t i = 0; i < rd->nlocal; i++)
        work(r, &st[transfers + i], epochs);
}

static void end_round(sk_run *r, const sk_round *rd)
{
    for (uint32_t i = 0; r->packet_used && i < rd->nrecv; i++) {
        const sk_step *st = &r->sched->steps[rd->first + rd->nhead + i];
        if (st->kind == SK_STEP_PRECV) {
            r->packet_used[st->packet] += r->packet_got[st->packet];
            r->packet_got[st->packet] = 0;
        }
    }
    r->round++;
    r->posted = false;
}

/* A round that is no more than one plain send and one plain receive, of the kind wires do best. */
FOR_BOTH bool try_exchange(sk_run *r, const sk_round *rd, bool epochs)
{
    const sk_wire_ops *ops = r->wire->ops;
    if (!ops->exchange || rd->nrecv > 1 || rd->nsend > 1 || rd->nlocal)
        return false;
    const sk_step *recv = &r->sched->steps[rd->first + (epochs ? rd->nhead : 0)],
                  *send = recv + rd->nrecv;
    if ((rd->nrecv && recv->kind != SK_STEP_RECV) || (rd->nsend && send->kind != SK_STEP_SEND))
        return false;
    if (epochs && ((rd->nrecv && recv->packet) || (rd->nsend && send->packet)))
        return false;
    sk_part none = {0};
    sk_run_note(r, ops->exchange(r->wire, rd->nsend ? sk_run_part(r, ops, &send->a, epochs) : none,
                                 rd->nsend ? send->peer : -1,
                                 rd->nrecv ? sk_run_part(r, ops, &recv->b, epochs) : none,
                                 rd->nrecv ? recv->peer : -1));
    return true;
}

/* ---- with epochs ---- */

static sk_status round_with_epochs(sk_run *r, const sk_round *rd, bool block)
{
    if (!r->posted) {
        sk_epoch_release(r, r->wire->ops, rd->released);
        if (rd->nhead && sk_run_wait_steps(r, rd->first, rd->nhead, block) == SK_AGAIN)
            return SK_AGAIN;
        if (block && !rd->nwait && rd->nrecv + rd->nsend && try_exchange(r, rd, true)) {
            end_round(r, rd);
            return SK_OK;
        }
        start_round(r, rd, true);
        r->posted = true;
    }
    if (rd->nwait &&
        sk_run_wait_steps(r, sk_round_end(rd) - rd->nwait, rd->nwait, block) == SK_AGAIN)
        return SK_AGAIN;
    if (r->intra)
        sk_run_end_intra(r);
    sk_status st = SK_OK;
    while (rd->nrecv + rd->nsend && (st = r->wire->ops->finish(r->wire, block)) == SK_AGAIN)
        if (!block)
            return SK_AGAIN;
    sk_run_note(r, st);
    end_round(r, rd);
    return SK_OK;
}

static sk_status run_with_epochs(sk_run *r, bool block)
{
    const struct sk_sched_view *v = r->sched;
    while (r->round < v->nrounds)
        if (round_with_epochs(r, &v->rounds[r->round], block) == SK_AGAIN)
            return SK_AGAIN;
    sk_epoch_release(r, r->wire->ops, v->nepochs);
    return r->status;
}

/* ---- without ---- */

sk_status sk_run_poll(sk_run *r)
{
    if (r->sched->nepochs)
        return run_with_epochs(r, false);
    while (r->round < r->sched->nrounds) {
        const sk_round *rd = &r->sched->rounds[r->round];
        if (!r->posted) {
            start_round(r, rd, false);
            r->posted = true;
        }
        if (rd->nrecv + rd->nsend) {
            sk_status st = r->wire->ops->finish(r->wire, false);
            if (st == SK_AGAIN)
                return SK_AGAIN;
            sk_run_note(r, st);
        }
        end_round(r, rd);
    }
    return r->status;
}

sk_status sk_run_wait(sk_run *r)
{
    if (r->sched->nepochs) {
        if (!r->sched->straight || r->round || r->step)
            return run_with_epochs(r, true);
        return sk_epoch_straight(r, r->wire->ops);
    }
    while (r->round < r->sched->nrounds) {
        const sk_round *rd = &r->sched->rounds[r->round];
        if (r->posted || !try_exchange(r, rd, false)) {
            if (!r->posted)
                start_round(r, rd, false);
            sk_status st = SK_OK;
            while (rd->nrecv + rd->nsend && (st = r->wire->ops->finish(r->wire, true)) == SK_AGAIN)
                ;
            sk_run_note(r, st);
        }
        end_round(r, rd);
    }
    return r->status;
}
