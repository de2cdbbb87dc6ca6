/* host.h: the MPIs of this machine. */
#ifndef SK_TOOLS_HOST_H
#define SK_TOOLS_HOST_H

#include "strlist.h"

typedef struct sk_mpi_host {
    const char *name;   /* "Open MPI 5.0.7", "MPICH 4.2.1" */
    const char *device; /* "ch4:ucx"; NULL: it is chosen when a program starts */
    const char *init; /* the prefix of its persistent collectives, "MPI_" or "MPIX_"; NULL: none */
    bool large;       /* it has large counts */
} sk_mpi_host;

/* Asks the first of these libraries (names, ended by NULL) that can be loaded, in a process of its own.
 * False: there is none. */
bool sk_mpi_host_ask(sk_arena *a, const char *const *libraries, sk_mpi_host *out);

#endif
