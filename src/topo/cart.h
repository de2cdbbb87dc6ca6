/* cart.h: what graph.c needs to know about Cartesian topologies. */
#ifndef SK_CART_H
#define SK_CART_H

/* What leaves through a edge arrives in this edge of the neighbour; and the other way round. */
int sk_cart_match(int edge);

#endif
