/* inproc_wire.h: all ranks of a communicator inside one process, without an MPI.
 *
 * Stricter than any MPI, so that schedules show their mistakes here. Nothing is buffered: bytes
 * move, and the send ends, only once the receive is posted, so a schedule that leans on buffering
 * stops. A message shorter than its receive is an error, unless the receive asks for the length. A
 * type that is not contiguous has its hole in the middle, so wrong strides are seen.
 *
 * Epochs: there is no more memory than a wire must have at least, two slots for each local rank, so a rank
 * that opens epoch t waits until all local ranks have passed epoch t - 2. It is an error to read what
 * nobody wrote, what is not posted or not waited for, or a slot of another node; to write slots of
 * others, a common byte that a local rank wrote, or what is posted; and if local ranks have different epochs,
 * or do not all join. */
#ifndef SK_LOCAL_WIRE_H
#define SK_LOCAL_WIRE_H

#include "exec/run.h"
#include "exec/wire.h"
#include "sched/span.h"
#include "topo/machine.h"

/* What happens to bytes, for those who want to follow them. All may be NULL. */
typedef struct sk_inproc_hooks {
    void *ctx;
    void (*move)(void *ctx, void *to, const void *from, int64_t n);    /* NULL: memmove */
    void (*reduce)(void *ctx, const void *in, void *inout, int64_t n); /* NULL: reductions fail */
    /* A message of `from` reaches `to`; the moves of its `len` bytes follow. */
    void (*match)(void *ctx, int from, int to, int64_t len);
    void (*round_over)(void *ctx, int rank); /* the rank saw all transfers of a round end */
    /* A rank posts an epoch; its local rank `to` sees that, and may read what it wrote. */
    void (*post)(void *ctx, int rank, uint32_t epoch);
    void (*hear)(void *ctx, int from, int to, uint32_t epoch);
} sk_inproc_hooks;

typedef struct sk_inproc sk_inproc;

/* Needs eight bytes per pair of ranks. NULL when out of memory. */
sk_inproc *sk_inproc_new(int nranks, const sk_inproc_hooks *hooks);
void sk_inproc_free(sk_inproc *l);

/* The wire of one rank, and the type table its schedule was built with (borrowed). */
sk_wire *sk_inproc_wire(sk_inproc *l, int rank, const sk_type *types);

/* Who are local ranks, for runs with epochs; borrowed. Without a machine these are refused. */
void sk_inproc_machine(sk_inproc *l, const sk_machine *m);

/* The bytes that slots of these schedules, one per rank, take in all; where in them a rank's slot, or
 * the common one of its node, starts; and memory for them in the next runs (borrowed; its bytes are
 * left as they are), for those who follow bytes by their addresses. NULL: the world's own, filled
 * with a pattern. */
int64_t sk_inproc_slot_bytes(const sk_machine *m, sk_sched *const *scheds);
int64_t sk_inproc_slot_place(const sk_machine *m, sk_sched *const *scheds, int rank, uint32_t buf);
void sk_inproc_slots(sk_inproc *l, void *memory);

/* Run one initialised run per rank to the end. An error of any rank, else SK_DEADLOCK when ranks
 * wait for messages that never come; a message that nobody receives is the same, as its sender
 * waits. Afterwards the world is empty and can be used again. */
sk_status sk_inproc_run(sk_inproc *l, sk_run *runs);

/* What was wrong with the epochs of the last run; empty when nothing was. */
const char *sk_inproc_why(const sk_inproc *l);

/* How many ranks were left waiting in the last run, and how many messages were matched in it. */
int sk_inproc_stuck(const sk_inproc *l);
int64_t sk_inproc_messages(const sk_inproc *l);

/* Of `len` data bytes laid out as `t` says, those from byte k on that stand together in memory:
 * their place from the first element's address, and how many they are. */
int64_t sk_inproc_stretch(const sk_type *t, int64_t k, int64_t len, int64_t *place);

#endif
