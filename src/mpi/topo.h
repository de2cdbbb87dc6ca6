/* topo.h: what Skein knows of a communicator with a topology: its graph, and how far the ranks have
 * got in making patterns for it.
 *
 * Ranks must do the same in the same call, and only some know the sizes of a call. So they compare
 * notes when they have made 1, 2, 4, 8, ... calls: how long blocks are, and whether a pattern that
 * is not there yet would pay. Between these points nothing changes. See setup.c. */
#ifndef SK_TOPO_H
#define SK_TOPO_H

#include "mpi/comm.h"
#include "neighbor/cost/predict.h"
#include "neighbor/neighborhood.h"

struct sk_setup;

/* Bytes and blocks of the calls of this rank since the ranks last compared notes. */
typedef struct sk_sizes {
    int64_t bytes, blocks;
} sk_sizes;

enum { SK_SETUPS = 32, SK_SETUP_TAGS = 2 * SK_NMETHODS };

typedef struct sk_topo {
    sk_neighborhood neighborhood; /* what calls see */
    sk_graph *graph;
    sk_machine *machine; /* NULL: not known yet */
    bool *idle;
    sk_graph_size size;
    bool parallel; /* some rank has parallel edges or loops */
    bool lonely;   /* some rank has no neighbours: it does not know the size of equal blocks */
    bool alone;    /* some rank's collectives under way stand still inside the host */
    sk_pattern *pattern[SK_NMETHODS];

    int64_t calls;    /* on this communicator, the same on all ranks */
    bool calm;        /* no set-up is under way, nor does any call wait for one */
    bool settled;     /* no pattern can ever pay: further set-ups have nothing to do */
    sk_sizes seen[2]; /* allgather and alltoall families */
    bool assumed;     /* plan for blocks of a middling size: there were no calls yet */

    /* Set-ups asked for and over. Those that nonblocking calls asked for run in the background, one
     * after the other; the next starts when no call waits for the last one any more. */
    int wanted, done;
    int tag[SK_SETUPS];     /* by number */
    int waiting[SK_SETUPS]; /* calls that wait for this one */
    struct sk_setup *setup; /* under way */
    sk_status status;       /* of the set-ups */
} sk_topo;

/* The communicator's topology; NULL: it has none, or one that cannot be used. No messages. */
sk_topo *sk_topo_get(sk_comm *c);
void sk_topo_free(sk_topo *t);

/* The graph as the host knows it. False: there is none. */
bool sk_topo_read(MPI_Comm comm, int nranks, int rank, sk_graph **out);

/* Where this process sits; the override SKEIN_MACHINE is for the ranks of MPI_COMM_WORLD. `cores`:
 * of this node. */
sk_location sk_location_here(int *cores);

/* The cores this process may run on, and a number that tells sets of them apart. 0: not known. */
int sk_cpus_here(uint64_t *which);

void sk_topo_note(sk_topo *t, const sk_call *c);

/* Count a call. True: the ranks compare notes before it is served. Then ask for it, with the first
 * of SK_SETUP_TAGS tags. */
bool sk_topo_due(sk_topo *t, const sk_comm *c);
void sk_topo_want(sk_topo *t, int tag);

/* Is that not yet so in the next call? */
static inline bool sk_topo_may_count(const sk_topo *t)
{
    return ((t->calls + 1) & t->calls) != 0;
}

/* A set-up is under way, or calls wait for one. */
static inline bool sk_topo_busy(const sk_topo *t)
{
    return t->done < t->wanted || t->waiting[t->wanted % SK_SETUPS] > 0;
}

/* Go on with the set-up number `number`, as far as possible without waiting, or with `block` also
 * by waiting in the host: SK_AGAIN, SK_OK when it is over, or an error. The process lock is held.
 */
sk_status sk_topo_poll(sk_topo *t, sk_comm *c, int number, bool block);

/* Until all that were asked for are over, and the calls that waited for them have their plans. The
 * process lock is not held. */
sk_status sk_topo_wait(sk_topo *t, sk_comm *c);

/* May the host serve a blocking call for which a message per edge is best? It does that with less
 * ado, but waits badly when it has to share cores and does not yield, and orders the blocks of
 * parallel edges as it likes. The same on all ranks. */
bool sk_topo_host_may(const sk_topo *t, sk_coll coll);

/* With no pattern that ever pays, and no memory to share, a message per edge is the choice for all
 * sizes: mark the collectives that may be left to the host at once. */
void sk_topo_leave(const sk_topo *t, sk_comm *c);

void sk_setup_free(struct sk_setup *s);

#if !SK_HAVE_GRAPHS
void sk_own_topo_start(void);
bool sk_own_topo_read(MPI_Comm comm, int nranks, int rank, sk_graph **out); /* own_topo.c */
#endif

#endif
