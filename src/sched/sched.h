/* sched.h: a collective of one rank as data: rounds of steps.
 *
 * The steps between two fences form a round: they start together, in no order, and all end before
 * the next round starts. So within a round nothing may write what another step reads or writes.
 * Messages from one rank to another are matched in the order in which they stand.
 *
 * Building needs no error checks: the first failed append marks the schedule, and freeze reports
 * it. A frozen schedule is immutable and may be run many times, also at once. */
#ifndef SK_SCHED_H
#define SK_SCHED_H

#include <stdio.h>

#include "base/status.h"
#include "sched/span.h"

typedef enum sk_step_kind {
    SK_STEP_RECV,   /* b <- peer */
    SK_STEP_SEND,   /* a -> peer */
    SK_STEP_COPY,   /* a -> b, packing or unpacking where the types ask for it */
    SK_STEP_REDUCE, /* b = a op b: a is the left operand */
    /* Packets: bytes whose lengths only the sender knows. A packet is a list of records (key,
     * bytes) in scratch, appended in rising order of keys. Steps on the same packet may stand in
     * one round only if they all read it, or if all are PUT or RELAY to it: these are done in the
     * order in which they stand. */
    SK_STEP_PUT,   /* append record `key` with the bytes of a */
    SK_STEP_PRECV, /* append the records that peer sends */
    SK_STEP_PSEND, /* send the records with lo <= key < hi, which must lie together */
    SK_STEP_GET,   /* copy record `key` to b; longer than b is an error, absent is empty */
    SK_STEP_RELAY, /* append record `lo` of this packet to packet `hi`, there under the key `peer`;
                    * absent here, it is absent there */
} sk_step_kind;

typedef struct sk_step {
    uint32_t kind : 8;    /* sk_step_kind */
    uint32_t packet : 24; /* packet steps: which */
    int32_t peer;
    int32_t lo, hi; /* packet steps: key, or range of keys */
    sk_span a, b;
} sk_step;

typedef struct sk_sched sk_sched;

/* The type table is copied. NULL when out of memory. */
sk_sched *sk_sched_new(const sk_type *types, uint32_t ntypes);
void sk_sched_free(sk_sched *s);

/* Steps on empty spans are dropped; so is a copy onto itself. */
void sk_send(sk_sched *s, sk_span from, int peer);
void sk_recv(sk_sched *s, sk_span to, int peer);
void sk_copy(sk_sched *s, sk_span from, sk_span to);
void sk_reduce(sk_sched *s, sk_span in, sk_span inout); /* inout = in op inout */
void sk_fence(sk_sched *s);

/* An empty message, for barriers. */
void sk_send_signal(sk_sched *s, int peer);
void sk_recv_signal(sk_sched *s, int peer);

/* Scratch: packed bytes, or room for `count` elements laid out as the type says. */
sk_span sk_scratch(sk_sched *s, int64_t bytes);
sk_span sk_scratch_typed(sk_sched *s, uint32_t type, int64_t count);

/* A packet with room for `records` records of `bytes` data bytes in all. Keys are >= 0. */
int sk_packet(sk_sched *s, int records, int64_t bytes);
void sk_put(sk_sched *s, int packet, int key, sk_span from);
void sk_packet_send(sk_sched *s, int packet, int lo, int hi, int peer);
void sk_packet_recv(sk_sched *s, int packet, int peer);
void sk_get(sk_sched *s, int packet, int key, sk_span to);
void sk_relay(sk_sched *s, int from, int key, int to, int new_key);

/* A builder that cannot go on says why; freeze reports the first such reason. */
void sk_sched_fail(sk_sched *s, sk_status why);

sk_status sk_sched_freeze(sk_sched *s);

/* After freeze. */
typedef struct sk_round {
    uint32_t first, nrecv, nsend, nlocal; /* steps stand in that order; packets included */
} sk_round;

typedef struct sk_packet_room {
    int64_t off; /* in scratch */
    int64_t cap;
} sk_packet_room;

struct sk_sched_view {
    const sk_step *steps;
    const sk_round *rounds;
    const sk_type *types;
    const sk_packet_room *packets;
    uint32_t nsteps, nrounds, ntypes, npackets;
    uint32_t max_transfers; /* most sends + receives in one round */
    int64_t scratch;        /* bytes needed */
};
const struct sk_sched_view *sk_sched_view(const sk_sched *s);

/* What a schedule sends, for `skein explain` and for tests that count. Packet sends count as
 * messages of unknown length. */
typedef struct sk_sched_stats {
    int64_t rounds; /* rounds that hold at least one transfer */
    int64_t sends, recvs, send_bytes, recv_bytes;
    int64_t copies, copy_bytes, reduces, reduce_bytes;
    int64_t scratch;
} sk_sched_stats;
sk_sched_stats sk_sched_count(const sk_sched *s);

/* Steps of one round that touch the same memory, one of them writing? If so, false, and the reason
 * in `why`. */
bool sk_sched_disjoint(const sk_sched *s, char *why, size_t size);

void sk_sched_print(const sk_sched *s, FILE *out);

#endif
