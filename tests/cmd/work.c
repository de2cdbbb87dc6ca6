/* work.c: a library between a program and MPI. */
#include <mpi.h>

int work(void);

int work(void)
{
    int x;
    return MPI_Initialized(&x);
}
