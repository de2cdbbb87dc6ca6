/* compare.h: the results of Skein and of the host MPI, byte by byte. */
#ifndef SK_COMPARE_H
#define SK_COMPARE_H

#include "bench/mpi/calls.h"

/* Collective over MPI_COMM_WORLD: one call of each; whether Skein's result is right, at all ranks.
 * `keep` has room for c->check_bytes. */
bool sk_compare(const sk_case *c, char *keep);

#endif
