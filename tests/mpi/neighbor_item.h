/* neighbor_item.h: one random neighbourhood collective and what it must leave in the buffers. */
#ifndef NEIGHBOR_ITEM_H
#define NEIGHBOR_ITEM_H

#include "neighbor_call.h"
#include "neighbor_topo.h"
#include "side.h"

/* The length of every block, from numbers that all ranks draw alike. */
typedef struct edge_sizes {
    int unit, grain, most; /* blocks have up to `most` times `grain` units */
    bool vary;             /* they differ from edge to edge */
    bool by_source;        /* or only from source to source, which has the same data for all */
    uint64_t seed;
} edge_sizes;

typedef struct nitem {
    ncoll coll;
    form form;
    bool big;
    bool ask_host; /* the host's own blocking call confirms what is expected */
    const topo *on;
    args a;
    side send, recv;
    edge_sizes sizes;
    int round;
    int idle; /* times `grain`: units of a block that is no neighbour's */
    rng fill; /* of what stands between and around the blocks */
    char text[360];
} nitem;

/* Where the host itself does not do what the standard says. Open MPI 4.1.4 matches parallel edges
 * the wrong way in nonblocking alltoalls on grids; MPICH 4.0.2 does so everywhere but on a grid
 * with one dimension of that kind, and mixes up the numbers of neighbours in alltoallw. */
bool nitem_host_errs(ncoll c, form f, bool big, const topo *on);

/* `shared` is drawn alike on all ranks of the topology, `local` is this rank's own. */
void nitem_make(nitem *t, rng *shared, rng *local, ncoll c, form f, bool big, const topo *on);
void nitem_free(nitem *t);

/* New data for the next round, and the result that follows from it. With ask_host all ranks of the
 * topology together. */
void nitem_refill(nitem *t);

/* The call; the persistent form is made here and started by the caller. */
void nitem_call(nitem *t, MPI_Request *req);
void nitem_check(const nitem *t, const char *where);

#endif
