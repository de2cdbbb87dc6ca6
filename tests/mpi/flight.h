/* flight.h: a nonblocking collective in the air whose result is known, for tests of progress. */
#ifndef FLIGHT_H
#define FLIGHT_H

#include "testlib.h"

/* Kinds that no rank can finish before every rank has worked on them, short and long. */
enum { FLIGHT_KINDS = 6 };
const char *flight_name(int kind);

typedef struct flight {
    int kind, n, size, rank;
    int *send, *recv;
    MPI_Request req;
} flight;

void flight_start(flight *f, int kind, MPI_Comm comm);
void flight_land(flight *f); /* once complete: check the result, free */

#endif
