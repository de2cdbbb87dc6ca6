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
    SK_STEP_RECV,   /* b <- peer; near if `packet` is set, see sk_send_near */
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
    /* Shared memory of node mates: see "turns" below. OPEN and PUBLISH are done when the round
     * starts, EXPOSE is local, the others wait for mates. */
    SK_STEP_OPEN,    /* turn `packet`: from here on its bays may be written; put there by freeze */
    SK_STEP_PUBLISH, /* turn `packet`: the mates may see what earlier rounds wrote to my bay */
    SK_STEP_EXPOSE,  /* b, SK_PLACE bytes of my bay, says where a lies */
    SK_STEP_TAKE,    /* a, a bay of `peer` or the common one, -> b, when published */
    SK_STEP_FOLD,    /* b = a of mate lo op a of mate lo+1 ... op a of mate hi-1 */
    SK_STEP_JOIN,    /* the same over all mates, and all mates do this very step */
    SK_STEP_MEET,    /* mates lo <= i < hi have published turn `packet` */
    SK_STEP_READ,   /* b, from byte (lo + hi 2^32) on of what a, a place in the bay of `peer`, names
                     */
    SK_STEP_SETTLE, /* all mates are done with turn `packet` */
} sk_step_kind;

typedef struct sk_step {
    uint32_t kind : 8;    /* sk_step_kind */
    uint32_t packet : 24; /* packet steps: which; steps of a turn: which turn; 1: near */
    int32_t peer;
    int32_t lo, hi; /* packet steps: key, or range of keys; steps of a turn: range of mates */
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

/* ---- turns: the shared memory of node mates ----
 * Mates are the ranks of a node in rising order, numbered from 0. In a turn, each mate has a bay of
 * `room` bytes and all together have a common one. A mate writes its own bay, and its own part of
 * the common one, with any step that writes a span (copy, reduce, receive, fold), and publishes the
 * turn in a later round; only then do mates read. Published bays are never written again, and a
 * rank publishes a turn at most once. Bays are packed bytes, or typed, for reductions.
 *
 * Like rounds, turns are used in order: once a step of turn t + 1 or later stands in a round,
 * neither that round nor a later one has a step of turn t - 1 or before (a pipeline may fill turn t
 * + 1 while it empties turn t). The turns, their room and `all` must be the same at all mates of a
 * node; but who has no step in a turn need not know its room. `all`: every mate publishes this
 * turn; needed by what uses the common bay, and by sk_join_mates, of which a turn has one at most,
 * and then its common bay is the wire's. */
enum { SK_NO_PART = -1 }; /* for a room */
int sk_turn(sk_sched *s, int64_t room, bool all);

/* One that not all publish, but that nobody reaches long before the others, as each waits for some
 * of them: it has bays that come back soon, and so are still in the cache. */
int sk_turn_together(sk_sched *s, int64_t room);

sk_span sk_bay(int turn, int64_t at, int64_t len);    /* my own, or that of the rank I take from */
sk_span sk_common(int turn, int64_t at, int64_t len); /* the one for all */
/* Room for `count` elements laid out as the type says, `at` bytes into the bay, and how many bytes
 * that takes, rounded up to 64. */
sk_span sk_bay_typed(const sk_type *types, uint32_t type, int turn, int64_t at, int64_t count);
int64_t sk_bay_room(const sk_type *t, int64_t count);

void sk_publish(sk_sched *s, int turn);
void sk_take(sk_sched *s, int owner, sk_span bay, sk_span to);
void sk_fold_mates(sk_sched *s, int lo, int hi, sk_span bay, sk_span to); /* typed alike */
void sk_join_mates(sk_sched *s, sk_span bay, sk_span to); /* the same span at all mates, n >= 1 */
void sk_meet_mates(sk_sched *s, int turn, int lo, int hi);

/* Without a copy in between, where the kernel lets processes read each other's memory (sk_call's
 * `direct`): `place`, SK_PLACE bytes of a bay, says where `from` lies, and after the turn is
 * published mates read `to` from byte `at` of it on. Both must be contiguous. What is exposed may
 * not be written before the turn is settled, in a later round than the last use of the turn; to
 * have met the mates in a later turn will do as well. */
enum { SK_PLACE = 16 };
void sk_expose(sk_sched *s, sk_span from, sk_span place);
void sk_read(sk_sched *s, int owner, sk_span place, int64_t at, sk_span to);
void sk_settle(sk_sched *s, int turn);

/* A message between mates, through their memory beside all turns: long or of a length that only its
 * two ends know. Its bytes must be contiguous, both ends must call it near, and in a round there is
 * one at most to, and one from, each mate. */
void sk_send_near(sk_sched *s, sk_span from, int peer);
void sk_recv_near(sk_sched *s, sk_span to, int peer);

/* The steps so far call their peers by other names: put the ranks that have these names. */
void sk_sched_name_peers(sk_sched *s, const int *rank_of, int nranks);

/* A builder that cannot go on says why; freeze reports the first such reason. */
void sk_sched_fail(sk_sched *s, sk_status why);

sk_status sk_sched_freeze(sk_sched *s);

/* After freeze. */
typedef struct sk_round {
    uint32_t first, nhead, nrecv, nsend, nlocal, nwait; /* steps stand in that order: OPEN and
                                                         * PUBLISH are heads, what waits for
                                                         * mates comes last */
    uint32_t passed; /* turns below this one are over when the round starts */
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

typedef struct sk_turn_room {
    int64_t room;
    bool all, together;
} sk_turn_room;

typedef struct sk_packet_room {
    int64_t off; /* in scratch */
    int64_t cap;
} sk_packet_room;

struct sk_sched_view {
    const sk_step *steps;
    const sk_round *rounds;
    const sk_type *types;
    const sk_packet_room *packets;
    const sk_turn_room *turns;
    uint32_t nsteps, nrounds, ntypes, npackets, nturns;
    uint32_t max_transfers; /* most sends + receives in one round */
    bool straight;   /* turns, few, and nothing else to wait for: steps may be done as they stand */
    int64_t scratch; /* bytes needed */
};
const struct sk_sched_view *sk_sched_view(const sk_sched *s);

/* What a schedule sends, for `skein explain` and for tests that count. Packet sends count as
 * messages of unknown length. */
typedef struct sk_sched_stats {
    int64_t rounds; /* rounds that hold at least one transfer */
    int64_t sends, recvs, send_bytes, recv_bytes;
    int64_t copies, copy_bytes, reduces, reduce_bytes;
    int64_t takes, take_bytes; /* TAKE, READ and JOIN; FOLD once for every mate */
    int64_t turns;
    int64_t scratch;
} sk_sched_stats;
sk_sched_stats sk_sched_count(const sk_sched *s);

/* Steps of one round that touch the same memory, one of them writing? If so, false, and the reason
 * in `why`. */
bool sk_sched_disjoint(const sk_sched *s, char *why, size_t size);

void sk_sched_print(const sk_sched *s, FILE *out);

#endif
