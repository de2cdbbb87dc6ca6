/* run.c: walk the rounds of a schedule: start its transfers, do its local steps, wait for the
 * transfers, next round. */
#include "exec/run.h"

#include <string.h>

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

static void note(sk_run *r, sk_status st)
{
    if (st != SK_OK && r->status == SK_OK)
        r->status = st;
}

/* Integer arithmetic: MPI_BOTTOM is a null pointer with real offsets. */
static sk_part part_of(const sk_run *r, const sk_span *s)
{
    return (sk_part){(void *)((uintptr_t)r->buf[s->buf] + (uintptr_t)s->off), s->len, s->type};
}

static char *packet_at(const sk_run *r, uint32_t packet)
{
    return (char *)r->buf[SK_SCRATCH] + r->sched->packets[packet].off;
}

/* The record at `at`, or false at the end or when it does not fit: packets come from the wire. */
static bool record_at(const char *packet, int64_t used, int64_t at, sk_record *rec)
{
    if (used - at < (int64_t)sizeof *rec)
        return false;
    memcpy(rec, packet + at, sizeof *rec);
    return rec->len >= 0 && rec->len <= used - at - (int64_t)sizeof *rec;
}

/* A new record at the end of a packet, its bytes taken from `data`. */
static void append(sk_run *r, uint32_t packet, int64_t key, sk_part data)
{
    int64_t *used = &r->packet_used[packet];
    sk_record rec = {.key = key, .len = data.len};
    if (sk_record_bytes(rec.len) > r->sched->packets[packet].cap - *used) {
        note(r, SK_TOOBIG);
        return;
    }
    char *at = packet_at(r, packet) + *used;
    memcpy(at, &rec, sizeof rec);
    if (rec.len)
        note(r,
             r->wire->ops->copy(r->wire, data, (sk_part){at + sizeof rec, rec.len, SK_TYPE_BYTE}));
    *used += sk_record_bytes(rec.len);
}

/* The bytes of record `lo` of the step's packet; false when it is absent. Keys rise, and records
 * are mostly asked for in that order: the search starts at the last one that was not beyond what
 * was looked for. packet_got is free to remember it once the packet has come. */
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

static void get(sk_run *r, const sk_step *st)
{
    sk_part data;
    if (!find(r, st, &data))
        return;
    if (data.len > st->b.len)
        note(r, SK_TRUNCATE);
    else if (data.len)
        note(r, r->wire->ops->copy(r->wire, data,
                                   (sk_part){part_of(r, &st->b).at, data.len, st->b.type}));
}

static void relay(sk_run *r, const sk_step *st)
{
    sk_part data;
    if (find(r, st, &data))
        append(r, (uint32_t)st->hi, st->peer, data);
}

/* The stretch of a packet that holds the keys lo <= key < hi. */
static sk_part stretch(const sk_run *r, const sk_step *st)
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

static void post(sk_run *r, const sk_step *st)
{
    const sk_wire_ops *ops = r->wire->ops;
    switch (st->kind) {
    case SK_STEP_RECV:
        note(r, ops->recv(r->wire, part_of(r, &st->b), st->peer, NULL));
        break;
    case SK_STEP_SEND:
        note(r, ops->send(r->wire, part_of(r, &st->a), st->peer));
        break;
    case SK_STEP_PRECV: {
        int64_t used = r->packet_used[st->packet];
        sk_part room = {packet_at(r, st->packet) + used, r->sched->packets[st->packet].cap - used,
                        SK_TYPE_BYTE};
        r->packet_got[st->packet] = 0;
        note(r, ops->recv(r->wire, room, st->peer, &r->packet_got[st->packet]));
        break;
    }
    case SK_STEP_PSEND:
        note(r, ops->send(r->wire, stretch(r, st), st->peer));
        break;
    default:
        break;
    }
}

static void work(sk_run *r, const sk_step *st)
{
    const sk_wire_ops *ops = r->wire->ops;
    switch (st->kind) {
    case SK_STEP_COPY:
        note(r, ops->copy(r->wire, part_of(r, &st->a), part_of(r, &st->b)));
        break;
    case SK_STEP_REDUCE:
        note(r, ops->reduce(r->wire, part_of(r, &st->a), part_of(r, &st->b)));
        break;
    case SK_STEP_PUT:
        append(r, st->packet, st->lo, part_of(r, &st->a));
        break;
    case SK_STEP_GET:
        get(r, st);
        break;
    case SK_STEP_RELAY:
        relay(r, st);
        break;
    default:
        break;
    }
}

static void start_round(sk_run *r, const sk_round *rd)
{
    const sk_step *st = &r->sched->steps[rd->first];
    uint32_t transfers = rd->nrecv + rd->nsend;
    for (uint32_t i = 0; i < transfers; i++)
        post(r, &st[i]);
    for (uint32_t i = 0; i < rd->nlocal; i++)
        work(r, &st[transfers + i]);
}

static void end_round(sk_run *r, const sk_round *rd)
{
    for (uint32_t i = 0; r->packet_used && i < rd->nrecv; i++) {
        const sk_step *st = &r->sched->steps[rd->first + i];
        if (st->kind == SK_STEP_PRECV) {
            r->packet_used[st->packet] += r->packet_got[st->packet];
            r->packet_got[st->packet] = 0;
        }
    }
    r->round++;
    r->posted = false;
}

sk_status sk_run_poll(sk_run *r)
{
    while (r->round < r->sched->nrounds) {
        const sk_round *rd = &r->sched->rounds[r->round];
        if (!r->posted) {
            start_round(r, rd);
            r->posted = true;
        }
        if (rd->nrecv + rd->nsend) {
            sk_status st = r->wire->ops->finish(r->wire, false);
            if (st == SK_AGAIN)
                return SK_AGAIN;
            note(r, st);
        }
        end_round(r, rd);
    }
    return r->status;
}

/* A round that is no more than one plain send and one plain receive, of the kind wires do best. */
static bool try_exchange(sk_run *r, const sk_round *rd)
{
    const sk_wire_ops *ops = r->wire->ops;
    if (!ops->exchange || rd->nrecv > 1 || rd->nsend > 1 || rd->nlocal)
        return false;
    const sk_step *recv = &r->sched->steps[rd->first], *send = recv + rd->nrecv;
    if ((rd->nrecv && recv->kind != SK_STEP_RECV) || (rd->nsend && send->kind != SK_STEP_SEND))
        return false;
    sk_part none = {0};
    note(r, ops->exchange(r->wire, rd->nsend ? part_of(r, &send->a) : none,
                          rd->nsend ? send->peer : -1, rd->nrecv ? part_of(r, &recv->b) : none,
                          rd->nrecv ? recv->peer : -1));
    return true;
}

sk_status sk_run_wait(sk_run *r)
{
    while (r->round < r->sched->nrounds) {
        const sk_round *rd = &r->sched->rounds[r->round];
        if (r->posted || !try_exchange(r, rd)) {
            if (!r->posted)
                start_round(r, rd);
            sk_status st = SK_OK;
            while (rd->nrecv + rd->nsend && (st = r->wire->ops->finish(r->wire, true)) == SK_AGAIN)
                ;
            note(r, st);
        }
        end_round(r, rd);
    }
    return r->status;
}
