/* mpi_library.h: the MPIs by the names of their libraries, and the one that a process has loaded. */
#ifndef SK_MPI_LIBRARY_H
#define SK_MPI_LIBRARY_H

#include <stdbool.h>

typedef enum sk_flavour {
    SK_MPI_NONE,
    SK_MPI_OPENMPI,
    SK_MPI_MPICH, /* and what shares its ABI: Intel MPI, MVAPICH, Cray MPICH */
    SK_MPI_ABI,   /* the standard ABI of MPI 5.0 */
    SK_MPI_OTHER, /* an MPI that Skein has no library for */
} sk_flavour;

const char *sk_flavour_name(sk_flavour f);  /* "openmpi": in file names and options */
const char *sk_flavour_title(sk_flavour f); /* "Open MPI": in messages */
sk_flavour sk_flavour_of_name(const char *name);
sk_flavour sk_flavour_of_library(const char *soname);

typedef struct sk_loaded_mpi {
    sk_flavour flavour;
    char soname[128]; /* for messages: the file's name where it has none */
    void *handle;     /* never closed */
} sk_loaded_mpi;

/* The library that holds `fn`, the PMPI_Init that the calls of this process reach. NULL: none is in
 * the global scope; then the first loaded MPI, which somebody loaded RTLD_LOCAL. False: there is none. */
bool sk_loaded_mpi_find(const void *fn, sk_loaded_mpi *out);

/* Whether this process prints what concerns the whole job: by the variables of the launchers, since MPI
 * cannot be asked yet. */
bool sk_loaded_first_rank(void);

#endif
