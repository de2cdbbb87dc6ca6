/* neighbor_shared.c: all neighbours on one node: every rank puts its blocks where its local ranks can see
 * them, and takes those of its sources from there.
 *
 *   shared    through the slots of one epoch: two copies for every block of alltoall; for allgather
 *             one into the slot, whatever the degree, and one out of it for each neighbour; short
 *             blocks through the common slot where ranks share cores
 *   exported   a slot says only where the blocks lie, and the local ranks read them there: one copy, a
 *             system call for each block, and nobody leaves before all have read
 * cost   degree copies, no messages, one wait for each neighbour
 * good for  shared: up to a few KB, and allgather at any length that fits; exported: long blocks
 * rounds 2, with blocks exported 3    scratch  exported blocks of types with gaps, packed
 *
 * Where each block stands both ends of its edge must know without a word: allgather's at the start
 * of the slot; alltoall's in a place for every local rank, and as often again as edges are parallel.
 *
 * All local ranks append the same epoch, though not all know sizes. A rank without neighbours does not
 * even know those of equal blocks, but has no part in the epoch. In the v and w forms the room is
 * what all ranks agree on, and a block that is too long for its place is exported or, where that
 * cannot be, sent: this the two ends of an edge decide alike. */
#include "coll/phase/intra.h"
#include "neighbor/lowering/neighbor.h"

enum {
    PLACE_STEP = 64,
    WIDE_ROOM = 128 << 10, /* of allgather, where sizes are not known */
    SOME_NEIGHBOURS = 6,
    MANY_NEIGHBOURS = 12,
    LONG_BLOCK = 32 << 10, /* of alltoall: from here on, what is not known beforehand is exported */
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Does every rank know the size of every block? */
static bool sizes_known(const sk_call *c)
{
    return !sk_neighbor_sized(c) && !sk_neighborhood_of(c)->lonely;
}

static int64_t count_places(const sk_call *c)
{
    return sk_neighbor_gathers(c) ? 1 : (int64_t)c->nranks * sk_neighborhood_of(c)->parallel;
}

/* Sizes are not known to all: room for blocks of a typical size and some longer ones. */
static int64_t agreed_room(const sk_call *c, int64_t n)
{
    if (sk_neighbor_gathers(c))
        return smaller(c->slot_bytes, WIDE_ROOM);
    int64_t each = smaller(c->neighborhood->typical, LONG_BLOCK / 4) * 4;
    each = each < PLACE_STEP ? PLACE_STEP : each;
    return each > c->slot_bytes / n ? c->slot_bytes : each * n;
}

static sk_places places_for(const sk_call *c, bool export)
{
    int64_t block = sk_call_bytes(c);
    sk_places p = {.n = count_places(c)};
    if (sk_neighbor_sized(c)) {
        p.room = agreed_room(c, p.n);
        p.bytes = p.room / p.n / PLACE_STEP * PLACE_STEP;
    } else {
        p.bytes = export || block > c->slot_bytes / p.n ? SK_EXPORT_BYTES : block;
        p.room =
            c->neighborhood->graph->nin + c->neighborhood->graph->nout ? p.n * p.bytes : SK_NO_PART;
    }
    return p;
}

/* ---- fits ---- */

static bool on_one_node(const sk_call *c)
{
    const sk_machine *m = sk_neighborhood_of(c)->machine;
    return m && m->nnodes == 1 && sk_neighborhood_of(c)->parallel > 0 &&
           c->slot_bytes / count_places(c) >= PLACE_STEP;
}

static bool fits_shared(const sk_call *c)
{
    return on_one_node(c) &&
           (!sizes_known(c) || sk_call_bytes(c) <= c->slot_bytes / count_places(c));
}

static bool fits_single_copy(const sk_call *c)
{
    return on_one_node(c) && c->direct;
}

/* Of the busiest rank. */
static int64_t most_neighbours(const sk_call *c)
{
    int64_t n = 0;
    for (int i = 0; i < SK_NLEVELS; i++)
        n += sk_neighborhood_of(c)->load[SK_BY_DIRECT].messages[i];
    return n;
}

/* Only what some rank may have to pack. Where sizes are not known no bound can be given that all
 * ranks agree on. */
static int64_t scratch_single_copy(const sk_call *c)
{
    int64_t edges = 1 + most_neighbours(c) * sk_neighborhood_of(c)->parallel,
            block = sk_call_bytes(c);
    bool huge = block > INT64_MAX - PLACE_STEP;
    return sizes_known(c) && block ? sk_scratch_bytes(edges, huge ? block : block + PLACE_STEP) : 0;
}

/* Short blocks of all ranks stand together: on few cache lines, and neighbours of neighbouring
 * ranks are one copy. That pays with many neighbours, since all ranks are waited for. */
static bool stand_together(const sk_call *c)
{
    return sk_neighbor_gathers(c) && sizes_known(c) && most_neighbours(c) >= MANY_NEIGHBOURS &&
           sk_call_bytes(c) > 0 && sk_intra_use_common(c, c->nranks * sk_call_bytes(c));
}

static void build_shared(sk_sched *s, const sk_call *c)
{
    sk_places at = places_for(c, false);
    at.common = stand_together(c);
    at.together = most_neighbours(c) >= SOME_NEIGHBOURS; /* else some await hardly anybody */
    if (at.common)
        at.room = c->nranks * at.bytes;
    sk_neighbor_trade(s, c, at, false);
}

static void build_single_copy(sk_sched *s, const sk_call *c)
{
    sk_neighbor_trade(s, c, places_for(c, true), true);
}

#define SHARED(COLL)                                                                               \
    {                                                                                              \
        .name = "shm", .coll = (COLL),                                                             \
        .about = "through memory that node mates share; all neighbours on one node",               \
        .fits = fits_shared, .build = build_shared, .rule = {{.when = SK_WHEN_ONE_NODE}},          \
    }

#define SINGLE_COPY(COLL)                                                                          \
    {                                                                                              \
        .name = "single-copy", .coll = (COLL),                                                     \
        .about = "node mates read each other's buffers; long blocks, all neighbours on one node",  \
        .fits = fits_single_copy, .scratch = scratch_single_copy, .build = build_single_copy,      \
        .rule = {{.when = SK_WHEN_ONE_NODE, .from = SK_SET_SINGLE_COPY}},                          \
    }

const sk_algo sk_neighbor_allgather_shm = SHARED(SK_NEIGHBOR_ALLGATHER);
const sk_algo sk_neighbor_allgather_single_copy = SINGLE_COPY(SK_NEIGHBOR_ALLGATHER);
const sk_algo sk_neighbor_allgatherv_shm = SHARED(SK_NEIGHBOR_ALLGATHERV);
const sk_algo sk_neighbor_alltoall_shm = SHARED(SK_NEIGHBOR_ALLTOALL);
const sk_algo sk_neighbor_alltoall_single_copy = SINGLE_COPY(SK_NEIGHBOR_ALLTOALL);
const sk_algo sk_neighbor_alltoallv_shm = SHARED(SK_NEIGHBOR_ALLTOALLV);
const sk_algo sk_neighbor_alltoallw_shm = SHARED(SK_NEIGHBOR_ALLTOALLW);
