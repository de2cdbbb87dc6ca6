/* fabric.h: Skein's libfabric provider: where it is, and whether an MPI could use it. */
#ifndef SK_RUN_FABRIC_H
#define SK_RUN_FABRIC_H

#include "run/mpiof.h"

typedef struct sk_fabric {
    const char *library; /* libskein-fi.so */
    const char *others;  /* where libfabric looks for providers by itself; NULL: nowhere */
    const char *how;     /* the component of the MPI that uses libfabric */
} sk_fabric;

/* For an MPI, as the ELF file `from` would load it: a program, or Skein's own library. `dir` is
 * where Skein's libraries are, NULL for the usual places. False: *why says in words that follow a
 * colon why the MPI's own matching stays. */
bool sk_fabric_find(sk_arena *a, sk_flavour mpi, const char *from, const char *dir, sk_fabric *out,
                    const char **why);

#endif
