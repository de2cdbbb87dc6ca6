/* hint.h: what Skein tells a libfabric provider in the same process (match/hint.h): which messages
 * are Skein's own, and which collective runs. Without a provider nobody reads it, and nothing is
 * written.
 *
 * Matching separates items by kind: a receive of the kind "own, allgather" matches only a message of
 * the same kind. So both ends of every message of Skein's must carry the same kind. They do:
 *
 *   communicators   Skein's messages travel on its duplicate of MPI_COMM_WORLD (sk_world.wire) and,
 *                   for one rank, on sk_proc.self. The user has no handle of these, so both ends are
 *                   in src/mpi.
 *   places          Three files send and receive there, each call inside SK_OWN:
 *                     mpi_wire.c      schedules        kind of the plan's collective
 *                     mpi_channel.c   negotiations     "set-up", also in the probe
 *                     own_coll.c      small set-ups    "set-up"
 *   tags            The three never meet. A tag is used by one call or one set-up at a time: it
 *                   begins with the communicator's number, and all take the rest from one counter
 *                   per communicator, in the same order on all ranks. Persistent collectives have
 *                   tags of their own.
 *   time            All messages with a tag belong to one call, which is the same collective on all
 *                   ranks. The kind is a field of the run (sk_mpi_wire.hint), set before its first
 *                   message. So it does not matter who drives the run: the call itself, Wait or
 *                   Test, another call, the host's progress, another thread or, if persistent, a
 *                   later start. Packets are messages of the wire like others.
 *   other messages  `own` is above 0 only inside SK_OWN, for as many messages as the call in it sends
 *                   and receives, with their tag. These are the first that the host hands to the
 *                   provider from this thread; what it sends while it waits comes later. If the host
 *                   makes progress before (the provider is busy) and Skein's progress begins there,
 *                   that sets the hint aside (sk_hint_aside) and puts it back.
 *   the host's      Everything else on those communicators is the host's: its collectives, which
 *                   have negative tags on both ends, the receive that never completes
 *                   (sk_proc.never), and the messages to oneself that pack data. They have no kind
 *                   on either end.
 *
 * A process without Skein's library takes part in none of these communicators. */
#ifndef SK_MPI_HINT_H
#define SK_MPI_HINT_H

#include <stdatomic.h>

#include "coll/call.h"
#include "match/hint.h"
#include "mpi/state/process.h"

/* Of this thread. A preloaded library is in the static TLS block, so the address is a sum. */
#if SK_HAVE_THREADS
#define SK_HINT_OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define SK_HINT_OF_THREAD
#endif
extern SK_HINT_OF_THREAD sk_hint sk_hint_mine __attribute__((visibility("hidden")));

/* A provider reads hints: it says so while the host starts, before any collective. */
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

/* A call of the host that sends and receives n of Skein's messages with this tag. */
#define SK_OWN(hint, tag, n, call) (sk_hint_say(hint, tag, n), sk_hint_said(call))

/* The host serves a collective: the provider may use this until it returns. */
static inline void sk_hint_advise(sk_hint h)
{
    sk_hint_mine = h;
}

static inline int sk_hint_over(int rc)
{
    sk_hint_mine.kind = 0;
    return rc;
}

/* Skein starts something of its own, perhaps inside another call. sk_hint_back restores the hint. */
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
