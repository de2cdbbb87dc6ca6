/* calls.c: collectives and a call with 12 arguments, in a program, or in a library that a program
 * loads late (load.c). */
#include <mpi.h>
#include <stdio.h>

int calls_run(int argc, char **argv);
int calls_run(int argc, char **argv)
{
    int rank, size, sum = 0, got = -1, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong |= sum != size * (size - 1) / 2;
    }
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT,
                 (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong |= got != (rank + size - 1) % size;
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    printf("rank %d %s\n", rank, wrong ? "wrong" : "right");
    return wrong;
}

#ifdef PROGRAM
int main(int argc, char **argv)
{
    return calls_run(argc, argv);
}
#endif
