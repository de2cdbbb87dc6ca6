/* provider.h: Skein's libfabric provider: where it is, and whether an MPI could use it. */
#ifndef SK_RUN_PROVIDER_H
#define SK_RUN_PROVIDER_H

#include "run/elf.h"

typedef struct sk_match_provider {
    const char *library; /* libskein-fi.so */
    const char *others;  /* libfabric's own directory of providers; NULL: none */
    const char *how;     /* the component of the MPI that uses libfabric */
} sk_match_provider;

/* For an MPI as the ELF file `from`, a program or Skein's own library, would load it. `dir` is
 * where Skein's libraries are, NULL for the usual directories. False: *why says why the MPI cannot
 * use the provider, as text to follow a colon. */
bool sk_match_provider_find(sk_arena *a, sk_flavour mpi, const char *from, const char *dir,
                            sk_match_provider *out, const char **why);

#endif
