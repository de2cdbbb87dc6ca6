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
    SK_STEP_RECV,   /* b <- peer; near if `packet` is set, see sk_send_intra */
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
    /* Shared memory of local ranks: see "epochs" below. OPEN and PUBLISH are done when the round
     * starts, EXPOSE is local, the others wait for local ranks. */
    SK_STEP_OPEN, /* epoch `packet`: from here on its slots may be written; put there by freeze */
    SK_STEP_POST, /* epoch `packet`: the local ranks may see what earlier rounds wrote to my slot */
    SK_STEP_EXPORT, /* b, SK_EXPORT_BYTES bytes of my slot, says where a lies */
    SK_STEP_TAKE,   /* a, a slot of `peer` or the common one, -> b, when posted */
    SK_STEP_FOLD,   /* b = a of local rank lo op a of local rank lo+1 ... op a of local rank hi-1 */
    SK_STEP_JOIN,   /* the same over all local ranks, and all local ranks do this very step */
    SK_STEP_AWAIT,  /* local ranks lo <= i < hi have posted epoch `packet` */
    SK_STEP_READ, /* b, from byte (lo + hi 2^32) on of what a, a place in the slot of `peer`, names
                     */
    SK_STEP_QUIESCE, /* all local ranks are done with epoch `packet` */
} sk_step_kind;

typedef struct sk_step {
    uint32_t kind : 8;    /* sk_step_kind */
    uint32_t packet : 24; /* packet steps: which; steps of an epoch: which epoch; 1: near */
    int32_t peer;
    int32_t lo,
        hi; /* packet steps: key, or range of keys; steps of an epoch: range of local ranks */
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

/* ---- epochs: the shared memory of local ranks ----
 * Local ranks are the ranks of a node in rising order, numbered from 0. In an epoch, each local rank has a slot of
 * `room` bytes and all together have a common one. A local rank writes its own slot, and its own part of
 * the common one, with any step that writes a span (copy, reduce, receive, fold), and posts the
 * epoch in a later round; only then do local ranks read. Posted slots are never written again, and a
 * rank posts an epoch at most once. Slots are packed bytes, or typed, for reductions.
 *
 * Like rounds, epochs are used in order: once a step of epoch t + 1 or later stands in a round,
 * neither that round nor a later one has a step of epoch t - 1 or before (a pipeline may fill epoch t
 * + 1 while it empties epoch t). The epochs, their room and `all` must be the same at all local ranks of a
 * node; but who has no step in an epoch need not know its room. `all`: every local rank posts this
 * epoch; needed by what uses the common slot, and by sk_join_local, of which an epoch has one at most,
 * and then its common slot is the wire's. */
enum { SK_NO_PART = -1 }; /* for a room */
int sk_epoch(sk_sched *s, int64_t slot_bytes, bool all);

/* One that not all post, but that nobody reaches long before the others, as each waits for some
 * of them: it has slots that come back soon, and so are still in the cache. */
int sk_epoch_together(sk_sched *s, int64_t slot_bytes);

sk_span sk_slot(int epoch, int64_t at, int64_t len);   /* my own, or that of the rank I take from */
sk_span sk_common(int epoch, int64_t at, int64_t len); /* the one for all */
/* Room for `count` elements laid out as the type says, `at` bytes into the slot, and how many bytes
 * that takes, rounded up to 64. */
sk_span sk_slot_typed(const sk_type *types, uint32_t type, int epoch, int64_t at, int64_t count);
int64_t sk_slot_bytes(const sk_type *t, int64_t count);

void sk_post(sk_sched *s, int epoch);
void sk_take(sk_sched *s, int owner, sk_span slot, sk_span to);
void sk_fold_local(sk_sched *s, int lo, int hi, sk_span slot, sk_span to); /* typed alike */
void sk_join_local(sk_sched *s, sk_span slot,
                   sk_span to); /* the same span at all local ranks, n >= 1 */
void sk_await_local(sk_sched *s, int epoch, int lo, int hi);

/* Without a copy in between, where the kernel lets processes read each other's memory (sk_call's
 * `direct`): `place`, SK_EXPORT_BYTES bytes of a slot, says where `from` lies, and after the epoch is
 * posted local ranks read `to` from byte `at` of it on. Both must be contiguous. What is exported may
 * not be written before the epoch is quiesced, in a later round than the last use of the epoch; to
 * have met the local ranks in a later epoch will do as well. */
enum { SK_EXPORT_BYTES = 16 };
void sk_export(sk_sched *s, sk_span from, sk_span place);
void sk_read(sk_sched *s, int owner, sk_span place, int64_t at, sk_span to);
void sk_quiesce(sk_sched *s, int epoch);

/* A message between local ranks, through their memory beside all epochs: long or of a length that only its
 * two ends know. Its bytes must be contiguous, both ends must call it near, and in a round there is
 * one at most to, and one from, each local rank. */
void sk_send_intra(sk_sched *s, sk_span from, int peer);
void sk_recv_intra(sk_sched *s, sk_span to, int peer);

/* The steps so far call their peers by other names: put the ranks that have these names. */
void sk_sched_name_peers(sk_sched *s, const int *rank_of, int nranks);

/* A builder that cannot go on says why; freeze reports the first such reason. */
void sk_sched_fail(sk_sched *s, sk_status why);

sk_status sk_sched_freeze(sk_sched *s);

/* After freeze. */
typedef struct sk_round {
    uint32_t first, nhead, nrecv, nsend, nlocal, nwait; /* steps stand in that order: OPEN and
                                                         * PUBLISH are heads, what waits for
                                                         * local ranks comes last */
    uint32_t released; /* epochs below this one are over when the round starts */
} sk_round;

static inline uint32_t sk_round_end(const sk_round *rd)
{
    return rd->first + rd->nhead + rd->nrecv + rd->nsend + rd->nlocal + rd->nwait;
}

/* Of a READ step: from which byte on. */
static inline int64_t sk_step_read_at(const sk_step *st)
{
    return (int64_t)((uint64_t)(uint32_t)st->hi << 32 | (uint32_t)st->lo);
}

typedef struct sk_epoch_info {
    int64_t slot_bytes;
    bool all, together;
} sk_epoch_info;

typedef struct sk_packet_info {
    int64_t off; /* in scratch */
    int64_t cap;
} sk_packet_info;

struct sk_sched_view {
    const sk_step *steps;
    const sk_round *rounds;
    const sk_type *types;
    const sk_packet_info *packets;
    const sk_epoch_info *epochs;
    uint32_t nsteps, nrounds, ntypes, npackets, nepochs;
    uint32_t max_transfers; /* most sends + receives in one round */
    bool straight; /* epochs, few, and nothing else to wait for: steps may be done as they stand */
    int64_t scratch; /* bytes needed */
};
const struct sk_sched_view *sk_sched_view(const sk_sched *s);

/* What a schedule sends, for `skein explain` and for tests that count. Packet sends count as
 * messages of unknown length. */
typedef struct sk_sched_stats {
    int64_t rounds; /* rounds that hold at least one transfer */
    int64_t sends, recvs, send_bytes, recv_bytes;
    int64_t copies, copy_bytes, reduces, reduce_bytes;
    int64_t takes, take_bytes; /* TAKE, READ and JOIN; FOLD once for every local rank */
    int64_t epochs;
    int64_t scratch;
} sk_sched_stats;
sk_sched_stats sk_sched_count(const sk_sched *s);

/* Steps of one round that touch the same memory, one of them writing? If so, false, and the reason
 * in `why`. */
bool sk_sched_disjoint(const sk_sched *s, char *why, size_t size);

void sk_sched_print(const sk_sched *s, FILE *out);

#endif
