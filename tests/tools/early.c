/* early.c: a library that starts MPI in its constructor, which runs before that of a preloaded
 * library. */
#include <mpi.h>
#include <stddef.h>

int early(void);

static int sum;

__attribute__((constructor)) static void start(void)
{
    int one = 1;
    MPI_Init(NULL, NULL);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int early(void)
{
    return sum;
}
