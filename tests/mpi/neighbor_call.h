/* neighbor_call.h: call any neighbourhood collective in any of its forms from the argument record
 * of coll.h, whose `coll` and `root` do not count here. */
#ifndef NEIGHBOR_CALL_H
#define NEIGHBOR_CALL_H

#include "coll.h"

typedef enum ncoll {
#define NEIGHBOR(ID, name, ...) N_##ID,
#include "neighbors.def"
#undef NEIGHBOR
    NNCOLLS
} ncoll;

const char *ncoll_name(ncoll c);
ncoll ncoll_find(const char *name); /* NNCOLLS when there is none */
bool ncoll_exists(ncoll c, form f, bool big);

/* As coll_call and coll_host_form. The record must have been widened: see args_widen. */
int ncoll_call(ncoll c, const args *a, form f, bool big, MPI_Request *req);
int ncoll_host(ncoll c, const args *a, form f, MPI_Request *req); /* blocking or nonblocking */

#endif
