/* run.c: execute a schedule round by round: start the transfers, do the local steps, wait for the
 * transfers. Schedules with epochs have their own loop, so that the others do not pay for them. */
#include <string.h>

#include "base/assert.h"
#include "base/attr.h"
#include "exec/epoch_steps.h"
#include "sched/packet.h"

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

/* ---- packets: lists of records whose lengths only their sender knows ---- */

static char *packet_at(const sk_run *r, uint32_t packet)
{
    return (char *)r->buf[SK_SCRATCH] + r->sched->packets[packet].off;
}

/* The record at offset `at`; false at the end of the packet, or when the record reaches beyond it:
 * packets come from other processes. */
static bool record_at(const char *packet, int64_t used, int64_t at, sk_record *rec)
{
    if (used - at < (int64_t)sizeof *rec)
        return false;
    memcpy(rec, packet + at, sizeof *rec);
    return rec->len >= 0 && rec->len <= used - at - (int64_t)sizeof *rec;
}

/* Append a record with the bytes of `data`. */
static void put(sk_run *r, uint32_t packet, int64_t key, sk_part data)
{
    int64_t *used = &r->packet_used[packet];
    sk_record rec = {.key = key, .len = data.len};
    if (sk_record_bytes(rec.len) > r->sched->packets[packet].cap - *used) {
        sk_run_note(r, SK_TOOBIG);
        return;
    }
    char *at = packet_at(r, packet) + *used;
    memcpy(at, &rec, sizeof rec);
    if (rec.len)
        sk_run_note(r, r->wire->ops->copy(r->wire, data,
                                          (sk_part){at + sizeof rec, rec.len, SK_TYPE_BYTE}));
    *used += sk_record_bytes(rec.len);
}

/* The same with as much of a slot as the length before it says; nothing, if that is 0. */
static void put_sized(sk_run *r, const sk_step *st, sk_part data)
{
    int64_t len;
    if (!data.at) {
        sk_run_note(r, SK_WIRE);
        return;
    }
    memcpy(&len, (char *)data.at - SK_LENGTH_BYTES, SK_LENGTH_BYTES);
    if (len > data.len)
        sk_run_note(r, SK_TRUNCATE);
    else if (len > 0)
        put(r, st->packet, st->lo, (sk_part){data.at, len, data.type});
}

/* The bytes of record `lo` of the step's packet; false: it is absent. Keys rise, and most callers
 * ask in that order. So the search starts at the last record that it has seen with a key not above
 * the one it looked for. packet_got keeps that offset: it is free once the packet has arrived. */
static bool find(sk_run *r, const sk_step *st, sk_part *data)
{
    char *packet = packet_at(r, st->packet);
    int64_t used = r->packet_used[st->packet], *last = &r->packet_got[st->packet], at = *last;
    sk_record rec;
    if (!record_at(packet, used, at, &rec) || rec.key > st->lo)
        at = 0;
    for (; record_at(packet, used, at, &rec) && rec.key <= st->lo; at += sk_record_bytes(rec.len)) {
        *last = at;
        if (rec.key == st->lo) {
            *data = (sk_part){packet + at + sizeof rec, rec.len, SK_TYPE_BYTE};
            return true;
        }
    }
    return false;
}

static void get(sk_run *r, const sk_step *st, sk_part to)
{
    sk_part data = {0};
    bool found = find(r, st, &data);
    if (st->hi)
        sk_run_put_length(to.at, data.len <= to.len ? data.len : 0);
    if (!found)
        return;
    if (data.len > to.len)
        sk_run_note(r, SK_TRUNCATE);
    else if (data.len) {
        to.len = data.len;
        sk_run_note(r, r->wire->ops->copy(r->wire, data, to));
    }
}

static void relay(sk_run *r, const sk_step *st)
{
    sk_part data;
    if (find(r, st, &data))
        put(r, (uint32_t)st->hi, st->peer, data);
}

/* The part of a packet with the keys lo <= key < hi: what a PSEND sends. */
static sk_part packet_part(const sk_run *r, const sk_step *st)
{
    char *packet = packet_at(r, st->packet);
    int64_t used = r->packet_used[st->packet], first = 0, end = 0;
    sk_record rec;
    bool found = false;
    for (int64_t at = 0; record_at(packet, used, at, &rec); at += sk_record_bytes(rec.len)) {
        if (rec.key < st->lo || rec.key >= st->hi)
            continue;
        if (!found)
            first = at;
        found = true;
        end = at + sk_record_bytes(rec.len);
    }
    return (sk_part){packet + first, end - first, SK_TYPE_BYTE};
}

/* The free part of a packet: what a PRECV may fill. */
static sk_part packet_space(const sk_run *r, uint32_t packet)
{
    int64_t used = r->packet_used[packet];
    return (sk_part){packet_at(r, packet) + used, r->sched->packets[packet].cap - used,
                     SK_TYPE_BYTE};
}

/* ---- steps of a round ---- */

/* Messages between local ranks, through shared memory. */
static void post_intra(sk_run *r, const sk_step *st)
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

/* False: they are not over, never when `block` is set. */
static bool finish_intra(sk_run *r, bool block)
{
    const sk_intra_ops *intra = r->wire->intra;
    sk_status st = intra && intra->finish ? intra->finish(r->wire, block) : SK_OK;
    if (st == SK_AGAIN)
        return false;
    r->intra = false;
    sk_run_note(r, st);
    return true;
}

/* Compiled twice, as what follows, with and without epochs, so that runs without never test for them. */
static SK_INLINED void post(sk_run *r, const sk_step *st, bool epochs)
{
    const sk_wire_ops *ops = r->wire->ops;
    switch (st->kind) {
    case SK_STEP_RECV:
        if (epochs && st->packet)
            post_intra(r, st);
        else
            sk_run_note(r, ops->recv(r->wire, sk_run_part(r, ops, &st->b, epochs), st->peer, NULL));
        break;
    case SK_STEP_SEND:
        if (epochs && st->packet)
            post_intra(r, st);
        else
            sk_run_note(r, ops->send(r->wire, sk_run_part(r, ops, &st->a, epochs), st->peer));
        break;
    case SK_STEP_PRECV: {
        sk_part space = packet_space(r, st->packet);
        r->packet_got[st->packet] = 0;
        sk_run_note(r, ops->recv(r->wire, space, st->peer, &r->packet_got[st->packet]));
        break;
    }
    case SK_STEP_PSEND:
        sk_run_note(r, ops->send(r->wire, packet_part(r, st), st->peer));
        break;
    default:
        break;
    }
}

static SK_INLINED void do_local(sk_run *r, const sk_step *st, bool epochs)
{
    const sk_wire_ops *ops = r->wire->ops;
    switch (st->kind) {
    case SK_STEP_COPY:
        if (epochs && st->lo)
            sk_run_put_length(sk_run_part(r, ops, &st->b, true).at, st->b.len);
        sk_run_note(r, ops->copy(r->wire, sk_run_part(r, ops, &st->a, epochs),
                                 sk_run_part(r, ops, &st->b, epochs)));
        break;
    case SK_STEP_REDUCE:
        sk_run_note(r, ops->reduce(r->wire, sk_run_part(r, ops, &st->a, epochs),
                                   sk_run_part(r, ops, &st->b, epochs)));
        break;
    case SK_STEP_PUT:
        if (epochs && st->hi)
            put_sized(r, st, sk_run_part(r, ops, &st->a, epochs));
        else
            put(r, st->packet, st->lo, sk_run_part(r, ops, &st->a, epochs));
        break;
    case SK_STEP_GET:
        get(r, st, sk_run_part(r, ops, &st->b, epochs));
        break;
    case SK_STEP_RELAY:
        relay(r, st);
        break;
    case SK_STEP_EXPORT:
        if (epochs)
            sk_epoch_export(r, ops, st);
        break;
    default:
        break;
    }
}

static SK_INLINED void start_round(sk_run *r, const sk_round *rd, bool epochs)
{
    const sk_step *st = &r->sched->steps[rd->first + (epochs ? rd->nhead : 0)];
    uint32_t transfers = rd->nrecv + rd->nsend;
    for (uint32_t i = 0; i < transfers; i++)
        post(r, &st[i], epochs);
    for (uint32_t i = 0; i < rd->nlocal; i++)
        do_local(r, &st[transfers + i], epochs);
}

static void end_round(sk_run *r, const sk_round *rd)
{
    SK_ASSERT(r->step == 0 && !r->intra);
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

/* Wait for the transfers of the round; false: they are not over, never when `block` is set. */
static inline bool finish_transfers(sk_run *r, bool block)
{
    sk_status st;
    if (r->blind)
        return false;
    SK_WAIT_REPEAT((st = r->wire->ops->finish(r->wire, block)) != SK_AGAIN || !block);
    if (st == SK_AGAIN)
        return false;
    sk_run_note(r, st);
    return true;
}

/* A round that is at most one plain send and one plain receive, as one call of the wire. */
static SK_INLINED bool try_exchange(sk_run *r, const sk_round *rd, bool epochs)
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

/* The heads or the waiting steps of a round, from where the last call stopped: SK_OK, or SK_AGAIN,
 * never when `block` is set. Errors are noted. */
SK_HOT static sk_status wait_steps(sk_run *r, uint32_t first, uint32_t n, bool block)
{
    const sk_wire_ops *ops = r->wire->ops;
    const sk_step *st = &r->sched->steps[first];
    for (uint32_t i = r->step; i < n; i++) {
        sk_status got;
        SK_WAIT_REPEAT((got = sk_epoch_step(r, ops, &st[i], block)) != SK_AGAIN || !block);
        if (got == SK_AGAIN) {
            r->step = i;
            return SK_AGAIN;
        }
        sk_run_note(r, got);
    }
    r->step = 0;
    return SK_OK;
}

static sk_status round_with_epochs(sk_run *r, const sk_round *rd, bool block)
{
    if (!r->posted) {
        sk_epoch_release(r, r->wire->ops, rd->released);
        if (rd->nhead && wait_steps(r, rd->first, rd->nhead, block) == SK_AGAIN)
            return SK_AGAIN;
        if (block && !rd->nwait && rd->nrecv + rd->nsend && try_exchange(r, rd, true)) {
            end_round(r, rd);
            return SK_OK;
        }
        start_round(r, rd, true);
        r->posted = true;
    }
    if (rd->nwait && wait_steps(r, sk_round_end(rd) - rd->nwait, rd->nwait, block) == SK_AGAIN)
        return SK_AGAIN;
    if (r->intra && !finish_intra(r, block))
        return SK_AGAIN;
    if (rd->nrecv + rd->nsend && !finish_transfers(r, block))
        return SK_AGAIN;
    end_round(r, rd);
    return SK_OK;
}

static sk_status run_with_epochs(sk_run *r, bool block)
{
    const struct sk_sched_view *v = r->sched;
    while (r->round < v->nrounds)
        if (round_with_epochs(r, &v->rounds[r->round], block) == SK_AGAIN)
            return SK_AGAIN;
    SK_ASSERT(r->released <= v->nepochs);
    sk_epoch_release(r, r->wire->ops, v->nepochs);
    return r->status;
}

/* ---- without epochs ---- */

sk_status sk_run_poll(sk_run *r)
{
    if (r->sched->straight)
        return sk_epoch_straight(r, r->wire->ops, false);
    if (r->sched->nepochs)
        return run_with_epochs(r, false);
    while (r->round < r->sched->nrounds) {
        const sk_round *rd = &r->sched->rounds[r->round];
        if (!r->posted) {
            start_round(r, rd, false);
            r->posted = true;
        }
        if (rd->nrecv + rd->nsend && !finish_transfers(r, false))
            return SK_AGAIN;
        end_round(r, rd);
    }
    return r->status;
}

sk_status sk_run_post(sk_run *r)
{
    if (r->sched->nepochs) {
        r->blind = true;
        sk_status st = sk_run_poll(r);
        r->blind = false;
        return st;
    }
    for (; r->round < r->sched->nrounds; end_round(r, &r->sched->rounds[r->round])) {
        const sk_round *rd = &r->sched->rounds[r->round];
        start_round(r, rd, false);
        r->posted = true;
        if (rd->nrecv + rd->nsend)
            return SK_AGAIN;
    }
    return r->status;
}

sk_status sk_run_wait(sk_run *r)
{
    if (r->sched->straight)
        return sk_epoch_straight(r, r->wire->ops, true);
    if (r->sched->nepochs)
        return run_with_epochs(r, true);
    while (r->round < r->sched->nrounds) {
        const sk_round *rd = &r->sched->rounds[r->round];
        if (r->posted || !try_exchange(r, rd, false)) {
            if (!r->posted)
                start_round(r, rd, false);
            if (rd->nrecv + rd->nsend)
                finish_transfers(r, true);
        }
        end_round(r, rd);
    }
    return r->status;
}
