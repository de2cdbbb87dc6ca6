/* run_packet.c: packets, lists of records whose lengths only their sender knows. */
#include <string.h>

#include "exec/run_inner.h"
#include "sched/packet.h"

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
void sk_run_put(sk_run *r, uint32_t packet, int64_t key, sk_part data)
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

void sk_run_get(sk_run *r, const sk_step *st, sk_part to)
{
    sk_part data;
    if (!find(r, st, &data))
        return;
    if (data.len > to.len)
        sk_run_note(r, SK_TRUNCATE);
    else if (data.len) {
        to.len = data.len;
        sk_run_note(r, r->wire->ops->copy(r->wire, data, to));
    }
}

void sk_run_relay(sk_run *r, const sk_step *st)
{
    sk_part data;
    if (find(r, st, &data))
        sk_run_put(r, (uint32_t)st->hi, st->peer, data);
}

/* The stretch of a packet that holds the keys lo <= key < hi. */
sk_part sk_run_packet_part(const sk_run *r, const sk_step *st)
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

sk_part sk_run_packet_room(const sk_run *r, uint32_t packet)
{
    int64_t used = r->packet_used[packet];
    return (sk_part){packet_at(r, packet) + used, r->sched->packets[packet].cap - used,
                     SK_TYPE_BYTE};
}
