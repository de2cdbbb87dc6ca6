/* cart.h: Cartesian grids as graphs, without an MPI. */
#ifndef SK_CART_H
#define SK_CART_H

#include "topo/graph.h"

/* The neighbours of a rank in a grid, 2 per dimension, in the order of the MPI standard: in
 * dimension 0 the neighbour below, then the one above, then dimension 1, and so on. Ranks are in
 * row-major order. */
sk_status sk_graph_cart(int ndims, const int *dims, const int *periods, int rank, sk_graph **out);

#endif
