/* complete.h: finish requests by every call that can. */
#ifndef COMPLETE_H
#define COMPLETE_H

#include "testlib.h"

/* Complete all requests in a random way. Null ones may be among them; persistent ones come back
 * inactive, all others null. The calls see a status that must be an empty one for every request i
 * with a false message[i]. */
void complete_all(rng *r, MPI_Request *req, const bool *message, int n);

#endif
