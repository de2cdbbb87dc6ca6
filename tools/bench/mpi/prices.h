/* prices.h: measure the parameters of the model that predicts times (price/prices.h) between two ranks of a node and
 * two of different nodes, while all other ranks sleep. Rank 0 writes a line "price NAME VALUE UNIT" for each. */
#ifndef SK_BENCH_PRICES_H
#define SK_BENCH_PRICES_H

#include "bench/mpi/clock.h"

/* For about so many seconds: a machine may be disturbed for a while. Collective over MPI_COMM_WORLD. */
void sk_bench_prices(const sk_clock *clock, double seconds);

#endif
