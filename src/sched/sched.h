/* sched.h: the part of one rank in a collective, as data: rounds of steps.
 *
 * The steps between two fences form a round. They start together, in no order, and all end before
 * the next round starts. So within a round no step may write what another step reads or writes.
 * Messages from one rank to another are matched in the order in which they are appended.
 *
 * Building needs no error checks: the first failed append marks the schedule, and freeze reports
 * it. A frozen schedule is immutable and may be run many times, also by several runs at once. */
#ifndef SK_SCHED_H
#define SK_SCHED_H

#include <stdio.h>

#include "base/status.h"
#include "sched/span.h"

typedef enum sk_step_kind {
    SK_STEP_RECV,   /* b <- peer; through shared memory if `packet` is set, see sk_send_intra */
    SK_STEP_SEND,   /* a -> peer */
    SK_STEP_COPY,   /* a -> b, packing or unpacking where the types ask for it; `lo`: see
                     * SK_LENGTH_BYTES */
    SK_STEP_REDUCE, /* b = a op b: a is the left operand */
    /* Packets: bytes whose lengths only the sender knows. A packet is a list of records (key,
     * bytes) in scratch, appended in rising order of keys. Several steps of one round may use the
     * same packet only if all of them read it, or if all are PUT or RELAY to it; those are done in
     * the order in which they were appended. */
    SK_STEP_PUT,   /* append record `key` with the bytes of a; `hi`: see sk_put_sized */
    SK_STEP_PRECV, /* append the records that peer sends */
    SK_STEP_PSEND, /* send the records with lo <= key < hi, which must be contiguous */
    SK_STEP_GET,   /* copy record `key` to b; a record longer than b is an error, an absent one is
                    * empty; `hi`: see sk_get_sized */
    SK_STEP_RELAY, /* append record `lo` of this packet to packet `hi` under the key `peer`; an
                    * absent record is not appended */
    /* Shared memory of local ranks: see "epochs" below. OPEN and POST are done when the round
     * starts, EXPORT is local, the others wait for local ranks. */
    SK_STEP_OPEN,   /* wait until the slots of epoch `packet` may be written; added by freeze */
    SK_STEP_POST,   /* let the local ranks read what earlier rounds wrote to my slot of `packet` */
    SK_STEP_EXPORT, /* write the handle of a to b, SK_EXPORT_BYTES bytes of my slot */
    SK_STEP_TAKE,   /* copy a, in the slot of `peer` or in the common one, to b when posted;
                     * `lo`: see SK_LENGTH_BYTES */
    SK_STEP_FOLD,   /* b = a of local rank lo op a of local rank lo+1 ... op a of local rank hi-1 */
    SK_STEP_JOIN,   /* the same over all local ranks; all of them have this very step */
    SK_STEP_AWAIT,  /* wait until local ranks lo <= i < hi have posted epoch `packet` */
    SK_STEP_READ,   /* copy to b from byte (lo + hi 2^32) on of the memory whose handle is a, in the
                      * slot of `peer` */
    SK_STEP_QUIESCE, /* wait until all local ranks are done with epoch `packet` */
} sk_step_kind;

typedef struct sk_step {
    uint32_t kind : 8;    /* sk_step_kind */
    uint32_t packet : 24; /* the packet; for steps of epochs the epoch; SEND, RECV: 1 if intra */
    int32_t peer;
    int32_t lo, hi; /* packets: key, or range of keys; epochs: range of local ranks */
    sk_span a, b;
} sk_step;

typedef struct sk_sched sk_sched;

/* Copies the type table. NULL: out of memory. */
sk_sched *sk_sched_new(const sk_type *types, uint32_t ntypes);
void sk_sched_free(sk_sched *s);

/* Steps on empty spans and copies onto themselves are dropped. */
void sk_send(sk_sched *s, sk_span from, int peer);
void sk_recv(sk_sched *s, sk_span to, int peer);
void sk_copy(sk_sched *s, sk_span from, sk_span to);
void sk_reduce(sk_sched *s, sk_span in, sk_span inout); /* inout = in op inout */
void sk_fence(sk_sched *s);

/* An empty message, for barriers. */
void sk_send_signal(sk_sched *s, int peer);
void sk_recv_signal(sk_sched *s, int peer);

/* Scratch: packed bytes, or memory for `count` elements laid out as the type says. */
sk_span sk_scratch(sk_sched *s, int64_t bytes);
sk_span sk_scratch_typed(sk_sched *s, uint32_t type, int64_t count);

/* A packet for up to `records` records of `bytes` data bytes in all. Keys are >= 0. */
int sk_packet(sk_sched *s, int records, int64_t bytes);
void sk_put(sk_sched *s, int packet, int key, sk_span from);
void sk_packet_send(sk_sched *s, int packet, int lo, int hi, int peer);
void sk_packet_recv(sk_sched *s, int packet, int peer);
void sk_get(sk_sched *s, int packet, int key, sk_span to);
void sk_relay(sk_sched *s, int from, int key, int to, int new_key);

/* ---- epochs: the shared memory of local ranks ----
 * Local ranks are the ranks of a node in rising order, numbered from 0. In an epoch each local rank
 * has a slot of `slot_bytes`, and there is a common slot. A local rank writes its own slot, and its
 * own part of the common one, with any step that writes a span (copy, reduce, receive, fold). It
 * posts the epoch in a later round, at most once; only then do the other local ranks read. Posted
 * slots are never written again. Slots are packed bytes, or typed for reductions.
 *
 * Epochs are used in order, like rounds: once a round has a step of epoch t + 1 or later, neither
 * that round nor a later one has a step of epoch t - 1 or before. So a pipeline can fill epoch t + 1
 * while it empties epoch t. The epochs, their slot_bytes and `all` must be the same at all local
 * ranks of a node; a rank without steps in an epoch passes SK_NO_PART for slot_bytes.
 *
 * `all`: every local rank posts this epoch. The common slot and sk_join_local need that. An epoch has
 * at most one join, and then the wire uses its common slot. */
enum { SK_NO_PART = -1 };
int sk_epoch(sk_sched *s, int64_t slot_bytes, bool all);

/* An epoch that not all post, but that no rank reaches long before the others, as each waits for
 * some of them. Its slots are reused soon and so are still in the cache. */
int sk_epoch_together(sk_sched *s, int64_t slot_bytes);

sk_span sk_slot(int epoch, int64_t at, int64_t len);   /* my own, or that of the rank I take from */
sk_span sk_common(int epoch, int64_t at, int64_t len); /* the common one */
/* `count` elements laid out as the type says, `at` bytes into the slot, and the bytes they take,
 * rounded up to 64. */
sk_span sk_slot_typed(const sk_type *types, uint32_t type, int epoch, int64_t at, int64_t count);
int64_t sk_slot_bytes(const sk_type *t, int64_t count);

void sk_post(sk_sched *s, int epoch);
void sk_take(sk_sched *s, int owner, sk_span slot, sk_span to);

/* Blocks whose lengths the two ends know, but might not know alike. The SK_LENGTH_BYTES bytes before the
 * block in the slot say how long it is. A block longer than `to` is an error (SK_TRUNCATE), of a shorter
 * one as much is taken as there is. */
enum { SK_LENGTH_BYTES = 8 };
void sk_copy_sized(sk_sched *s, sk_span from, sk_span slot);
void sk_take_sized(sk_sched *s, int owner, sk_span slot, sk_span to);

/* The same between slots and packets, for a rank that does not know how long the blocks are: as much as the
 * length says, `slot.len` at most. An empty block is an absent record. The rank knows from an earlier round that
 * what it puts is posted. */
void sk_put_sized(sk_sched *s, int packet, int key, sk_span slot);
void sk_get_sized(sk_sched *s, int packet, int key, sk_span slot);

void sk_fold_local(sk_sched *s, int lo, int hi, sk_span slot, sk_span to); /* typed alike */
void sk_join_local(sk_sched *s, sk_span slot, sk_span to); /* the same span at all local ranks */
void sk_await_local(sk_sched *s, int epoch, int lo, int hi);

/* Single copy, where the kernel lets processes read each other's memory (sk_call's `direct`). The
 * owner writes a handle of `from` to SK_EXPORT_BYTES bytes of its slot. After it has posted the epoch,
 * local ranks copy from byte `at` of `from` on to `to`. Both must be contiguous. Exported memory may
 * be written again after the epoch is quiesced, in a later round than its last use, or after the
 * local ranks are known to be in a later epoch. */
enum { SK_EXPORT_BYTES = 16 };
void sk_export(sk_sched *s, sk_span from, sk_span handle);
void sk_export_sized(sk_sched *s, sk_span from,
                     sk_span handle); /* with a length, as sk_copy_sized */
void sk_read(sk_sched *s, int owner, sk_span handle, int64_t at, sk_span to);
void sk_quiesce(sk_sched *s, int epoch);

/* A message between local ranks through shared memory, apart from all epochs: for long messages and
 * for lengths that only the two ranks know. The bytes must be contiguous, both ends must use these
 * functions, and a round has at most one such message to and one from each local rank. */
void sk_send_intra(sk_sched *s, sk_span from, int peer);
void sk_recv_intra(sk_sched *s, sk_span to, int peer);

/* The steps so far use new names of ranks (see topo/rename.h): replace them by the ranks. */
void sk_sched_name_peers(sk_sched *s, const int *rank_of, int nranks);

/* For a builder that cannot go on; freeze reports the first reason. */
void sk_sched_fail(sk_sched *s, sk_status why);

sk_status sk_sched_freeze(sk_sched *s);

typedef struct sk_epoch_info {
    int64_t slot_bytes;
    bool all, together;
} sk_epoch_info;

/* Where a short schedule is built, so that little is allocated: a plan is made in a call. It must stay until the schedule
 * is frozen or freed. */
enum { SK_SCHED_BUFFER = 16 };
typedef struct sk_sched_buffer {
    sk_step steps[SK_SCHED_BUFFER];
    uint32_t round_of[SK_SCHED_BUFFER];
    sk_epoch_info epochs[SK_SCHED_BUFFER];
} sk_sched_buffer;
sk_sched *sk_sched_new_in(const sk_type *types, uint32_t ntypes, sk_sched_buffer *buffer);

/* After freeze. */
typedef struct sk_round {
    uint32_t first; /* step; then come, in this order, */
    uint32_t nhead; /* OPEN and POST, */
    uint32_t nrecv, nsend, nlocal;
    uint32_t nwait;    /* and the steps that wait for local ranks */
    uint32_t released; /* epochs below this one are over when the round starts */
} sk_round;

static inline uint32_t sk_round_end(const sk_round *rd)
{
    return rd->first + rd->nhead + rd->nrecv + rd->nsend + rd->nlocal + rd->nwait;
}

/* Of a READ step: the offset in the exported memory. */
static inline int64_t sk_step_read_at(const sk_step *st)
{
    return (int64_t)((uint64_t)(uint32_t)st->hi << 32 | (uint32_t)st->lo);
}

/* After this step all local ranks are known to be done with the epochs below the result: those are
 * quiesced, or the ranks were seen in a later epoch. */
static inline uint32_t sk_step_quiesces(const sk_step *st)
{
    switch (st->kind) {
    case SK_STEP_QUIESCE:
        return st->packet + 1;
    case SK_STEP_AWAIT:
    case SK_STEP_JOIN:
        return st->packet;
    case SK_STEP_TAKE:
        return st->peer < 0 ? st->packet : 0; /* a common slot is read when all have posted */
    default:
        return 0;
    }
}

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
    bool straight;   /* has epochs, uses at most two, and waits for nothing else: the steps may be
                      * done one after the other */
    int64_t scratch; /* bytes */
};
const struct sk_sched_view *sk_sched_view(const sk_sched *s);

#endif
