/* neighbor_topo.h: a communicator with a topology of any kind, and which edges end at this rank. */
#ifndef NEIGHBOR_TOPO_H
#define NEIGHBOR_TOPO_H

#include "testlib.h"

enum { GRID_DIMS = 3 };
typedef struct grid {
    int ndims, dims[GRID_DIMS], periods[GRID_DIMS];
} grid;

/* At most `most` ranks; sides of 1 and 2 are frequent. */
grid grid_draw(rng *shared, int most);

/* One block of a neighbourhood collective. Both ends give the same number to an edge, in which the
 * parallel ones between two ranks differ. */
typedef struct slot {
    int rank, edge; /* rank: MPI_PROC_NULL beyond the border of a grid */
} slot;

typedef struct topo {
    MPI_Comm comm; /* null: this rank is not in it */
    int size, rank, nin, nout;
    slot *in, *out;
    bool grid;
    bool parallel,
        unbalanced; /* some rank has parallel edges; more edges in than out or vice versa */
    char text[160];
} topo;

/* `shared` is drawn alike on the ranks of the base, `local` is this rank's own. */
void topo_make(topo *t, rng *shared, rng *local, MPI_Comm base);
void topo_read(topo *t); /* the part of it that fills in everything but comm and text */
void topo_free(topo *t);

#endif
