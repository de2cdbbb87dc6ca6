/* cart.h: what graph.c needs to know about Cartesian topologies. */
#ifndef SK_CART_H
#define SK_CART_H

/* What leaves through a slot arrives in this slot of the neighbour; and the other way round. */
int sk_cart_match(int slot);

#endif
