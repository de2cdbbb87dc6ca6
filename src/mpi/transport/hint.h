/* hint.h: what Skein tells a provider of libfabric that runs in the same process (match/hint.h), if
 * there is one: which messages are Skein's own, and what collective is under way. Without a
 * provider nobody asks, and nothing is said.
 *
 * Why both ends of every message of Skein's carry the same kind. Matching parts items by kind, so a
 * receive that says "own, allgather" meets only a message that says the same.
 *
 * - Skein's own messages travel on its private duplicates of communicators (sk_comm.wire) and, for
 *   one rank, on sk_proc.self. The user has no handle of these, so both ends of each are in
 * src/mpi.
 * - There they are sent and received in three places only: the wire of schedules (mpi_wire.c), the
 *   talk of set-ups (mpi_talk.c) and the finding of nodes (node.c). Each of their calls is inside
 *   SK_OWN. Talk and node.c say "set-up" on both sides, the probe of a talk included.
 * - The three never meet each other: a tag serves one call, one set-up or one finding at a time,
 *   since all are taken from one counter per communicator, in the same order on all ranks, and
 *   persistent collectives have tags of their own.
 * - On the wire the kind is that of the plan's algorithm. All messages with a tag belong to one
 *   call, and by MPI's rules that is the same collective on all ranks. The kind is a value of the
 *   run (sk_mpi_wire.hint), fixed before its first message: it makes no difference when and from
 *   where it is driven, be it the call itself, Wait or Test, another call's progress, the host's
 *   progress, another thread or, for persistent ones, a later start. Packets are messages of the
 *   wire like others.
 * - Nothing else is taken for Skein's own: `own` is above 0 only inside SK_OWN, for as many
 *   messages as the call in it sends and receives, with their tag. These are the first that the
 *   host hands to the provider from this thread; what it sends while it waits comes later. If it
 *   makes progress before that (the provider is busy) and Skein's own progress begins in there,
 *   that sets the hint aside (sk_hint_aside) and brings it back.
 * - Everything else on those communicators is the host's: its collectives, which say so by negative
 *   tags on both ends, the receive that never ends (sk_proc.never) and the messages to oneself that
 *   pack data: no kind on either end.
 *
 * A process without Skein's library takes part in none of these communicators. */
#ifndef SK_MPI_HINT_H
#define SK_MPI_HINT_H

#include <stdatomic.h>

#include "coll/call.h"
#include "match/hint.h"
#include "mpi/state/process.h"

/* Of this thread. A preloaded library has its place among the first, so the address is a sum. */
#if SK_HAVE_THREADS
#define SK_HINT_OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define SK_HINT_OF_THREAD
#endif
extern SK_HINT_OF_THREAD sk_hint sk_hint_mine __attribute__((visibility("hidden")));

/* A provider has asked for hints: it does so while the host starts, before any collective. */
static inline bool sk_hint_wanted(void)
{
    return atomic_load_explicit(&sk_proc.hinting, memory_order_relaxed);
}

enum { SK_KIND_SETUP = SK_NCOLLS + 1 };

static inline uint8_t sk_hint_size(int64_t bytes)
{
    return bytes > 0 ? (uint8_t)(64 - __builtin_clzll((unsigned long long)bytes)) : 0;
}

static inline sk_hint sk_hint_of(sk_coll coll, int64_t bytes, int nranks, uint32_t call)
{
    return (sk_hint){.kind = (uint16_t)(coll + 1),
                     .size = sk_hint_size(bytes),
                     .nranks = (uint32_t)nranks,
                     .call = call};
}

static inline sk_hint sk_hint_of_setup(int nranks)
{
    return (sk_hint){.kind = SK_KIND_SETUP, .nranks = (uint32_t)nranks};
}

static inline void sk_hint_say(const sk_hint *h, int tag, uint8_t n)
{
    if (!sk_hint_wanted())
        return;
    sk_hint_mine = *h;
    sk_hint_mine.own = n;
    sk_hint_mine.tag = (uint32_t)tag;
}

static inline int sk_hint_said(int rc)
{
    sk_hint_mine.own = 0;
    return rc;
}

/* A call of the host that sends and receives n messages of Skein's with this tag. */
#define SK_OWN(hint, tag, n, call) (sk_hint_say(hint, tag, n), sk_hint_said(call))

/* The host serves a collective: advice, until it is over. */
static inline void sk_hint_advise(sk_hint h)
{
    sk_hint_mine = h;
}

static inline int sk_hint_over(int rc)
{
    sk_hint_mine.kind = 0;
    return rc;
}

/* Skein begins something of its own, perhaps inside another call: what was said is put back by
 * sk_hint_back. */
static inline sk_hint sk_hint_aside(void)
{
    sk_hint was = sk_hint_mine;
    sk_hint_mine.own = 0;
    return was;
}

static inline void sk_hint_back(sk_hint was)
{
    sk_hint_mine = was;
}

#endif
