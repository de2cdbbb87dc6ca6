/* phase_neighbor.h: from a pattern and a call to a schedule: what the neighbourhood algorithms are
 * made of. They differ in their patterns only.
 *
 * The bundles of a stage are one round of transfers, or several when a window is set. Blocks that are
 * to stand together are assembled before it, those that came are copied to the user's edges during
 * the next one. Beside the bundles there are straight messages, from source to target without
 * carriers, in the round of stage 0:
 *   - every block of the direct pattern;
 *   - blocks of the v and w forms that are longer than what rides;
 *   - alltoall: every block of parallel edges but the first.
 * Both ends know the size of these. Messages of a pair have one order at both ends: by stage, then
 * the bundle, then straight ones by the number of their edge.
 *
 * Where local ranks share memory, bundles of equal blocks between them are no messages: see
 * phase_neighbor_intra.c. */
#ifndef SK_PHASE_NEIGHBOR_H
#define SK_PHASE_NEIGHBOR_H

#include "base/arena.h"
#include "coll/algo.h"
#include "neighbor/neighborhood.h"

/* ---- for the algorithms ---- */

bool sk_neighbor_fits(const sk_call *c, sk_method_id by);
int64_t sk_neighbor_scratch(const sk_call *c, sk_method_id by);
void sk_neighbor_build(sk_sched *s, const sk_call *c, sk_method_id by);

/* Where blocks stand in a slot when all neighbours are local ranks. */
typedef struct sk_places {
    int64_t
        n; /* allgather: 1; alltoall: one for each local rank, for every number of parallel edges */
    int64_t bytes; /* of one: longer blocks do not go through the slot */
    int64_t room;  /* of the slot */
    bool common;   /* allgather: in the common slot, which all local ranks fill */
    bool together; /* no rank runs far ahead of the others */
} sk_places;

/* One epoch: every block through the slots, or, when it is too long or `export` is set, read where it
 * lies or sent. phase_neighbor_trade.c */
void sk_neighbor_trade(sk_sched *s, const sk_call *c, sk_places at, bool export);

#define SK_NEIGHBOR_ALGO(COLL, word, ABOUT)                                                        \
    {                                                                                              \
        .name = #word, .coll = (COLL), .about = (ABOUT), .fits = fits, .scratch = scratch,         \
        .build = build,                                                                            \
    }

/* The five algorithms of a method. */
#define SK_NEIGHBOR_ALGOS(ID, word, ABOUT)                                                         \
    static bool fits(const sk_call *c)                                                             \
    {                                                                                              \
        return sk_neighbor_fits(c, SK_BY_##ID);                                                    \
    }                                                                                              \
    static int64_t scratch(const sk_call *c)                                                       \
    {                                                                                              \
        return sk_neighbor_scratch(c, SK_BY_##ID);                                                 \
    }                                                                                              \
    static void build(sk_sched *s, const sk_call *c)                                               \
    {                                                                                              \
        sk_neighbor_build(s, c, SK_BY_##ID);                                                       \
    }                                                                                              \
    const sk_algo sk_neighbor_allgather_##word =                                                   \
        SK_NEIGHBOR_ALGO(SK_NEIGHBOR_ALLGATHER, word, ABOUT);                                      \
    const sk_algo sk_neighbor_allgatherv_##word =                                                  \
        SK_NEIGHBOR_ALGO(SK_NEIGHBOR_ALLGATHERV, word, ABOUT);                                     \
    const sk_algo sk_neighbor_alltoall_##word =                                                    \
        SK_NEIGHBOR_ALGO(SK_NEIGHBOR_ALLTOALL, word, ABOUT);                                       \
    const sk_algo sk_neighbor_alltoallv_##word =                                                   \
        SK_NEIGHBOR_ALGO(SK_NEIGHBOR_ALLTOALLV, word, ABOUT);                                      \
    const sk_algo sk_neighbor_alltoallw_##word =                                                   \
        SK_NEIGHBOR_ALGO(SK_NEIGHBOR_ALLTOALLW, word, ABOUT)

/* ---- inside ---- */

enum { SK_OWN = -1 };

/* One block of a bundle: a block, or, for allgather, all blocks of one source. Its index in the
 * bundle is its place on the wire. */
typedef struct sk_piece {
    int leg;
    int src, dst; /* allgather: dst is the first of several */
    int from;     /* going out: the piece with which it came here, or SK_OWN */
    bool mine;    /* coming in: for me, perhaps for others too */
    bool onward;  /* coming in: it goes out again later */
    bool twice;   /* going out to a local rank: another piece puts this block into the same place */
} sk_piece;

/* One bundle. */
typedef struct sk_leg {
    int peer, epoch, stage;
    bool out;
    bool intra;    /* between local ranks, through shared memory */
    int first, n;  /* its pieces */
    sk_span place; /* equal blocks: where it stands, packed or in the user's buffer */
    bool packed;   /* equal blocks: that is scratch, so there are copies to or from it */
    bool loose; /* coming from a local rank: it stands nowhere, its pieces go to the user's edges */
    int packet; /* blocks with sizes */
} sk_leg;

/* Where the bundles between local ranks stand in the slots of their senders. */
typedef struct sk_near {
    int first;      /* the schedule's epoch of stage 0 */
    bool by_source; /* the block of a source stands once, at its rank; otherwise a bundle stands at
                     * the local rank that gets it */
    int64_t stride; /* from one local rank's place to the next */
} sk_near;

/* A rank's part in a call. Epochs are the stages in which it has bundles, and stage 0. */
typedef struct sk_tour {
    sk_sched *s;
    const sk_call *c;
    const sk_graph *g;
    sk_arena *arena;
    bool gather;     /* allgather(v): a block has many targets */
    bool direct;     /* straight messages only */
    bool sized;      /* v and w forms: only the two ends know a block's size */
    bool all_edges;  /* parallel edges are carried as the first ones are */
    int64_t block;   /* bytes of each block of the other forms */
    int64_t ride;    /* largest block of the v and w forms that is carried */
    sk_leg *legs;    /* by epoch */
    int *epoch_legs; /* nturns + 1: the legs of epoch i are [epoch_legs[i], epoch_legs[i + 1]) */
    int nturns;
    sk_piece *pieces;
    sk_near intra;
} sk_tour;

bool sk_neighbor_gathers(const sk_call *c); /* one block goes to all targets */
bool sk_neighbor_sized(const sk_call *c);   /* v and w forms */

/* A tour without legs: all that moves is straight messages. */
sk_status sk_tour_no_legs(sk_tour *t);

/* Legs, pieces and epochs of a pattern: phase_neighbor_legs.c. */
sk_status sk_tour_legs(sk_tour *t, const sk_pattern *p);

/* The epoch in which the block of an outgoing piece came, SK_OWN when it is mine. */
int sk_piece_came(const sk_tour *t, const sk_piece *p);

/* My block for a target, the first of parallel edges. */
sk_span sk_tour_send_block(const sk_tour *t, int target);

/* The edges of a source that take a piece of it: all of them for allgather, else the first; they
 * are graph->in_sorted[*first ...]. */
int sk_tour_edges(const sk_tour *t, int source, int *first);
sk_span sk_tour_edge(const sk_tour *t, int i); /* block of edge in_sorted[i] */

/* Is a block of this length carried by bundles, if it is the first of parallel edges? */
bool sk_tour_carries(const sk_tour *t, int64_t len);

/* Copies of edges from me to me, and of allgather blocks that came straight into further edges of
 * their source. */
void sk_tour_copy_loops(sk_tour *t);
void sk_tour_copy_straight(sk_tour *t);

/* phase_neighbor_intra.c: decide which legs are near, and append the epochs for them. */
sk_status sk_tour_share(sk_tour *t, const sk_load *load);
/* Where piece number k of a near leg stands: in my slot, or in that of the leg's peer. */
sk_span sk_tour_slot(const sk_tour *t, int k);
/* May this leg's slot be filled while the epoch before goes on? */
bool sk_tour_may_fill_early(const sk_tour *t, const sk_leg *l);

/* What bundles are made of differs where sizes are not known on the way. */
typedef struct sk_cargo {
    void (*prepare)(sk_tour *t); /* decide where each leg stands */
    /* Fill what goes out in an epoch. `early`: what can be filled while the epoch before goes on;
     * otherwise the rest. */
    void (*assemble)(sk_tour *t, int epoch, bool early);
    void (*transfer)(sk_tour *t, const sk_leg *leg); /* near: only what comes in */
    void (*deliver)(sk_tour *t, int epoch); /* to the user's edges, what came in an epoch */
} sk_cargo;

extern const sk_cargo sk_cargo_equal; /* phase_neighbor_equal.c */
extern const sk_cargo sk_cargo_sized; /* phase_neighbor_sized.c */

/* All transfers of an epoch: legs, and in turn 0 straight messages, in as many rounds as the window
 * asks for; what goes through shared memory in the first. Ends after a fence.
 * phase_neighbor_moves.c */
void sk_tour_transfer(sk_tour *t, const sk_cargo *cargo, int epoch);

#endif
