/* unknown_mpi.c: an MPI that Skein does not know, of four functions. */
#include "unknown_mpi.h"

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int MPI_Init(int *argc, char ***argv)
{
    return PMPI_Init(argc, argv);
}

/* Each argument counts. */
int MPI_Sendrecv(const void *a, int b, long c, int d, int e, void *f, int g, long h, int i, int j,
                 void *k, int *l)
{
    *l = b + (int)c * 2 + d * 3 + e * 4 + g * 5 + (int)h * 6 + i * 7 + j * 8;
    return a == f && f == k;
}

int MPI_Barrier(void *comm)
{
    return *(int *)comm;
}
