/* equations.h: equations 1 to 3 of the distance-halving paper, as printed, for random graphs of density
 * delta with n ranks, L on a socket. `skein explain` shows them beside what the method really sends. */
#ifndef SK_EQUATIONS_H
#define SK_EQUATIONS_H

double sk_equation_off(int n, int L, double delta);                /* 1: messages off the socket */
double sk_equation_in(int n, int L, double delta);                 /* 2: messages in the socket */
double sk_equation_in_bytes(int n, int L, double delta, double m); /* 3: bytes in the socket */

#endif
