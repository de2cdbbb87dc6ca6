/* topo.h: what Skein knows about a communicator with a topology: its graph, and how far the ranks
 * are with making patterns for it.
 *
 * All ranks must do the same in the same call, but only some know the sizes of a call. So they agree
 * in set-ups, after 1, 2, 4, 8, ... calls: how long blocks are, and whether a pattern that does not
 * exist yet would pay. Between set-ups nothing changes. dispatch/setup.c runs them. */
#ifndef SK_TOPO_H
#define SK_TOPO_H

#include "mpi/state/comm.h"
#include "neighbor/cost/predict.h"
#include "neighbor/neighborhood.h"

struct sk_setup;

/* Bytes and blocks of the calls of this rank since the last set-up. */
typedef struct sk_sizes {
    int64_t bytes, blocks;
} sk_sizes;

/* Set-ups of a communicator in all. They happen at powers of two of an int64_t, and in the call that
 * creates the communicator, so there are never more. */
enum { SK_SETUPS = 68 };

typedef struct sk_topo {
    sk_neighborhood neighborhood; /* what calls see */
    sk_graph *graph;
    const sk_machine *machine; /* the communicator's, from the first set-up on */
    bool *idle;                /* of each rank: it has no neighbours */
    sk_graph_size size;
    bool has_parallel;      /* some rank has parallel edges or loops */
    bool has_isolated;      /* some rank has no neighbours: it does not know the size of blocks */
    bool no_async_progress; /* on some rank collectives do not progress inside the host */
    sk_pattern *pattern[SK_NMETHODS];

    int64_t calls;    /* on this communicator, the same on all ranks */
    bool setups_done; /* no set-up is under way, and no call waits for one */
    bool never_pays;  /* no pattern can ever pay: further set-ups have nothing to do */
    sk_sizes seen[2]; /* allgather and alltoall families */
    bool assumed;     /* plan for blocks of medium size: there were no calls yet */

    /* Set-ups requested and done, numbered from 1. Those requested by nonblocking calls run in the
     * background, one after the other. The next starts when no call waits for the last one. The
     * process lock protects these. */
    int requested, done;
    int settled; /* requested when all ranks last waited for all of them, in a blocking call */
    int64_t tag[SK_SETUPS]; /* the first tag of each: see sk_comm_tag_at */
    int waiting[SK_SETUPS]; /* calls that wait for it */
    struct sk_setup *setup; /* under way */
    sk_status status;       /* of the set-ups */
} sk_topo;

bool sk_topo_exists(MPI_Comm comm); /* a duplicate has that of its original */

/* The communicator's topology; NULL: it has none, or one that cannot be used. Sends no messages. */
sk_topo *sk_topo_get(sk_comm *c);
void sk_topo_free(sk_topo *t);

/* Add the sizes of a call to `seen`. */
void sk_topo_record_sizes(sk_topo *t, const sk_call *c);

/* Count a call. True: a set-up must run before it is served. Then request it. */
bool sk_topo_count_call(sk_topo *t, const sk_comm *c);
void sk_topo_add_setup(sk_topo *t, int64_t tag);

/* Can the next call be counted without a set-up? */
static inline bool sk_topo_may_count(const sk_topo *t)
{
    return ((t->calls + 1) & t->calls) != 0;
}

/* A set-up is under way, or calls wait for one. */
static inline bool sk_topo_setup_pending(const sk_topo *t)
{
    return t->done < t->requested || t->waiting[t->requested] > 0;
}

/* Do all ranks know that no set-up is under way anywhere? The same on all ranks. */
static inline bool sk_topo_settled(const sk_topo *t)
{
    return t->settled == t->requested;
}

/* May the host serve a blocking call for which a message per edge is best? The host has less
 * overhead, but waits badly when it has to share cores and does not yield, and it orders the blocks
 * of parallel edges as it likes. The same on all ranks. */
bool sk_topo_host_allowed(const sk_topo *t, sk_coll coll);

/* When no pattern ever pays and there is no shared memory, a message per edge is best for all sizes:
 * mark the collectives that may go to the host at once. The process lock is held. */
void sk_topo_mark_host_colls(const sk_topo *t, sk_comm *c);

#endif
