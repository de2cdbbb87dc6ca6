/* lowering.h: from a pattern and a call to a schedule.
 *
 * The bundles of a stage become one round of transfers, or several when a window is set. Blocks that
 * must be contiguous are assembled before the round; blocks that arrived are copied to the user's
 * edges during the next one. Beside the bundles there are direct messages, from source to target
 * without carriers, in the round of stage 0:
 *   - every block of the direct pattern;
 *   - blocks of the v and w forms that are longer than the combine limit;
 *   - alltoall: every block of parallel edges but the first.
 * Both ends know the size of these. The messages of a pair have the same order at both ends: by stage,
 * then the bundle, then direct messages by the number of their edge.
 *
 * Where ranks of a node share memory, bundles of equal blocks between them go through slots of shared
 * memory instead of messages (equal.c). Where all neighbours are on one node there are two algorithms
 * without a pattern: shm.c.
 *
 *   algos.c     the algorithms: five for each method, phase by phase through a pattern
 *   lowering.c  bundles to transfers, transfers to rounds
 *   equal.c     layout of bundles whose blocks all have one size
 *   sized.c     layout of bundles whose blocks carry their sizes
 *   shm.c       the algorithms `shm` and `single-copy` */
#ifndef SK_LOWERING_H
#define SK_LOWERING_H

#include "base/arena.h"
#include "coll/algo.h"
#include "neighbor/neighborhood.h"

enum { SK_OWN = -1 };

/* One block of a bundle as it is sent: for alltoall a block of the pattern, for allgather all blocks of
 * one source, which are the same data. Its index in the bundle is its position on the wire. */
typedef struct sk_wire_block {
    int transfer;
    int src, dst;   /* allgather: dst is the first of several */
    int from;       /* outgoing: the wire block with which it arrived here, or SK_OWN */
    bool mine;      /* incoming: for this rank, perhaps for others too */
    bool forwarded; /* incoming: it is sent on later */
    int at;         /* incoming, not for this rank, in a split bundle: its index in the scratch */
    bool duplicate; /* outgoing to a rank of the node: another one puts this block into the same
                     * position of the slot */
} sk_wire_block;

/* One bundle. */
typedef struct sk_transfer {
    int peer, phase, stage;
    bool out;
    bool intra;   /* between ranks of a node, through shared memory */
    int first, n; /* its wire blocks */
    sk_span span; /* equal blocks: where it is, packed or in the user's buffer */
    bool packed;  /* equal blocks: `span` is scratch, so there are copies to or from it */
    bool
        split; /* equal blocks: each is a message of its own, from and to where it belongs; `span` is
                   * scratch for those that are only passed on */
    bool
        scattered; /* from a rank of the node: there is no span, its blocks go to the user's edges */
    int packet;    /* blocks with sizes */
} sk_transfer;

/* Where the bundles between ranks of a node are in the slots of their senders. */
typedef struct sk_intra_slots {
    int first_epoch; /* the schedule's epoch of stage 0 */
    bool
        by_source; /* the block of a source is once in the slot, at its place or the index of its rank;
                      * otherwise a bundle is at the index of the local rank that receives it */
    bool by_place;  /* sk_slot_place: no rank has two sources for a place */
    int64_t stride; /* bytes from one local rank's part to the next */
} sk_intra_slots;

/* The lowering of one call on one rank. Its phases are the stages in which this rank has bundles, and
 * stage 0. */
typedef struct sk_lowering {
    sk_sched *s;
    const sk_call *c;
    const sk_graph *g;
    sk_arena *arena;
    bool gather;            /* allgather(v): a block has many targets */
    bool direct;            /* direct messages only */
    bool sized;             /* v and w forms: only the two ends know a block's size */
    bool all_edges;         /* parallel edges are combined as the first ones are */
    int64_t block;          /* bytes of each block of the other forms */
    int64_t combine_limit;  /* largest block of the v and w forms that is combined */
    sk_transfer *transfers; /* by phase */
    int *phase_transfers;   /* nphases + 1: those of phase i are [phase_transfers[i],
                             * phase_transfers[i + 1]) */
    int nphases;
    sk_wire_block *blocks;
    sk_intra_slots intra;
} sk_lowering;

bool sk_neighbor_gathers(const sk_call *c); /* one block goes to all targets */
bool sk_neighbor_sized(const sk_call *c);   /* v and w forms */

/* The transfers of a pattern. */
sk_status sk_lowering_make_transfers(sk_lowering *t, const sk_pattern *pattern);
/* No transfers: all messages are direct ones. */
sk_status sk_lowering_no_transfers(sk_lowering *t);

/* The phase in which the block of an outgoing wire block arrived; SK_OWN when it is this rank's. */
int sk_wire_block_arrival(const sk_lowering *t, const sk_wire_block *b);

/* This rank's block for a target, the first of parallel edges. */
sk_span sk_lowering_send_block(const sk_lowering *t, int target);

/* The edges of a source that take a wire block of it: all of them for allgather, else the first. They
 * are graph->in_sorted[*first ...]; returns their number. */
int sk_lowering_edges(const sk_lowering *t, int source, int *first);
sk_span sk_lowering_edge(const sk_lowering *t, int i); /* block of edge in_sorted[i] */

/* Copies for edges from this rank to itself, and copies of allgather blocks that came as direct
 * messages into further edges of their source. */
void sk_lowering_copy_loops(sk_lowering *t);
void sk_lowering_copy_direct(sk_lowering *t);

/* How bundles are laid out: by position, or, where sizes are not known on the way, as packets. */
typedef struct sk_layout {
    void (*prepare)(sk_lowering *t); /* decide where each transfer's data is */
    /* Fill what is sent in a phase. `early`: what can be filled during the phase before; otherwise
     * the rest. */
    void (*assemble)(sk_lowering *t, int phase, bool early);
    void (*transfer)(sk_lowering *t, const sk_transfer *l); /* intra-node: only what comes in */
    void (*deliver)(sk_lowering *t,
                    int phase); /* copy what arrived in a phase to the user's edges */
} sk_layout;

extern const sk_layout sk_layout_equal; /* equal.c */
extern const sk_layout sk_layout_sized; /* sized.c */

/* equal.c: decide which transfers go through shared memory, and append the epochs for them. */
sk_status sk_lowering_use_slots(sk_lowering *t, const sk_load *load);

/* All transfers of a phase, and in phase 0 the direct messages, in as many rounds as the window asks
 * for; what goes through shared memory in the first. Ends with a fence. */
void sk_lowering_phase(sk_lowering *t, const sk_layout *layout, int phase);

#endif
