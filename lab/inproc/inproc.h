/* inproc.h: all ranks of a communicator inside one process, without an MPI.
 *
 * The wire is stricter than any MPI, so that schedules show their mistakes. Nothing is buffered: a
 * send ends only when its receive is posted, so a schedule that relies on buffering deadlocks. A
 * message shorter than its receive is an error, unless the receive asks for the length. A type that
 * is not contiguous has its hole in the middle, so wrong strides show.
 *
 * Epochs have the least memory that a wire must have, two slots per local rank: a rank that opens
 * epoch t waits until all local ranks have released epoch t - 2. These are errors:
 *
 *   - to read a byte that nobody wrote, or whose writer has not posted or was not waited for
 *   - to write the slot of another rank, a posted slot, or a common byte that another rank wrote
 *   - to touch a slot of another node, or of an epoch that the rank has released
 *   - local ranks with different epochs, or not all of them joining */
#ifndef SK_INPROC_H
#define SK_INPROC_H

#include "exec/run.h"
#include "exec/wire.h"
#include "sched/span.h"
#include "topo/machine.h"

/* Callbacks for callers that follow the bytes. Each may be NULL. */
typedef struct sk_inproc_hooks {
    void *ctx;
    void (*move)(void *ctx, void *to, const void *from, int64_t n);    /* NULL: memmove */
    void (*reduce)(void *ctx, const void *in, void *inout, int64_t n); /* NULL: reductions fail */
    /* A message of `from` reaches `to`; the moves of its `len` bytes follow. */
    void (*match)(void *ctx, int from, int to, int64_t len);
    void (*round_over)(void *ctx, int rank); /* the rank saw all transfers of a round end */
    /* A rank posts an epoch; local rank `to` sees the post of `from`, and may read what it wrote. */
    void (*post)(void *ctx, int rank, uint32_t epoch);
    void (*see)(void *ctx, int from, int to, uint32_t epoch);
} sk_inproc_hooks;

typedef struct sk_inproc sk_inproc;

/* Needs eight bytes per pair of ranks. NULL: out of memory. */
sk_inproc *sk_inproc_new(int nranks, const sk_inproc_hooks *hooks);
void sk_inproc_free(sk_inproc *l);

/* The wire of one rank, and the type table its schedule was built with (borrowed). */
sk_wire *sk_inproc_wire(sk_inproc *l, int rank, const sk_type *types);

/* Which ranks share a node, for runs with epochs (borrowed). Without a machine these are refused. */
void sk_inproc_machine(sk_inproc *l, const sk_machine *m);

/* For callers that follow bytes by their addresses: the bytes of all slots of these schedules, one
 * per rank; the offset of a rank's slot, or of the common one of its node; and memory for the slots
 * of the next runs (borrowed, not initialised). NULL: memory of the world, filled with a pattern. */
int64_t sk_inproc_slot_bytes(const sk_machine *m, sk_sched *const *scheds);
int64_t sk_inproc_slot_offset(const sk_machine *m, sk_sched *const *scheds, int rank, uint32_t buf);
void sk_inproc_slots(sk_inproc *l, void *memory);

/* Run one initialised run per rank to the end. Returns an error of any rank, or SK_DEADLOCK when
 * ranks wait for messages that never come or send messages that nobody receives. Afterwards the world
 * is empty and can be used again. */
sk_status sk_inproc_run(sk_inproc *l, sk_run *runs);

/* What was wrong with the epochs of the last run; "": nothing. */
const char *sk_inproc_why(const sk_inproc *l);

/* Of the last run: ranks that were left waiting, and messages that were matched. */
int sk_inproc_stuck(const sk_inproc *l);
int64_t sk_inproc_messages(const sk_inproc *l);

/* Of `len` data bytes laid out as `t` says, the contiguous bytes from byte k on: their offset from
 * the address of the first element, and their number. */
static inline int64_t sk_inproc_stretch(const sk_type *t, int64_t k, int64_t len, int64_t *offset)
{
    if (t->contig) {
        *offset = k;
        return len - k;
    }
    int64_t half = (t->size + 1) / 2, elem = k / t->size, in = k % t->size;
    int64_t at = elem * t->extent + t->true_lb + in;
    int64_t run = in < half ? half - in : t->size - in;
    *offset = in < half ? at : at + t->true_extent - t->size;
    return run < len - k ? run : len - k;
}

/* Walks over the runs of a layout, as sk_inproc_stretch finds them, without divisions. */
typedef struct sk_inproc_cursor {
    const sk_type *type;
    int64_t elem, in; /* offset of the element, and data bytes of it that are behind */
} sk_inproc_cursor;

static inline int64_t sk_inproc_run_at(const sk_inproc_cursor *c, int64_t left, int64_t *offset)
{
    const sk_type *t = c->type;
    if (t->contig) {
        *offset = c->in;
        return left;
    }
    int64_t half = (t->size + 1) / 2, at = c->elem + t->true_lb + c->in;
    int64_t run = (c->in < half ? half : t->size) - c->in;
    *offset = c->in < half ? at : at + t->true_extent - t->size;
    return run < left ? run : left;
}

static inline void sk_inproc_advance(sk_inproc_cursor *c, int64_t n)
{
    c->in += n;
    if (!c->type->contig && c->in == c->type->size) {
        c->in = 0;
        c->elem += c->type->extent;
    }
}

#endif
