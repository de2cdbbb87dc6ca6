/* mpiof.h: which MPI a file is linked with, by the names of the libraries it asks for. */
#ifndef SK_MPIOF_H
#define SK_MPIOF_H

#include "run/elf.h"

typedef enum sk_flavour {
    SK_MPI_NONE,
    SK_MPI_OPENMPI,
    SK_MPI_MPICH, /* and what shares its ABI: Intel MPI, MVAPICH, Cray MPICH */
    SK_MPI_OTHER, /* an MPI that Skein has no library for */
} sk_flavour;

const char *sk_flavour_name(sk_flavour f);  /* "openmpi": in file names and options */
const char *sk_flavour_title(sk_flavour f); /* "Open MPI": in messages */
sk_flavour sk_flavour_of_name(const char *name);

/* By the name of one library: libmpi.so.40 is Open MPI's. */
sk_flavour sk_flavour_of_library(const char *soname);

/* Of an ELF file and, where it does not say itself, of the libraries it asks for, searched where
 * the dynamic linker would search. *soname gets the name that decided. */
sk_flavour sk_mpi_of(sk_arena *a, const sk_elf *e, const char **soname);

/* The library `name` that the dynamic linker would load for `from`, a library of `program` or
 * itself; NULL when there is none. */
sk_elf *sk_elf_load(sk_arena *a, const sk_elf *program, const sk_elf *from, const char *name);

/* The file of the MPI library (SK_MPI_OPENMPI or SK_MPI_MPICH) that the file asks for or, when it
 * asks for none, of the one in the system; NULL when there is none. */
sk_elf *sk_mpi_library(sk_arena *a, const sk_elf *e, sk_flavour mpi);

#endif
