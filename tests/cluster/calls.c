/* calls.c COLLECTIVE BYTES TIMES: so many calls of one collective on MPI_COMM_WORLD. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int n, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int bytes = atoi(argv[2]), times = atoi(argv[3]);
    size_t room = (size_t)bytes * (size_t)n + 1;
    char *a = calloc(room, 1), *b = calloc(room, 1);
    if (!a || !b)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < times; i++)
        if (strcmp(argv[1], "allreduce") == 0)
            MPI_Allreduce(a, b, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
        else if (strcmp(argv[1], "reduce") == 0)
            MPI_Reduce(a, b, bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
        else if (strcmp(argv[1], "bcast") == 0)
            MPI_Bcast(a, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        else if (strcmp(argv[1], "allgather") == 0)
            MPI_Allgather(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, MPI_COMM_WORLD);
        else if (strcmp(argv[1], "alltoall") == 0)
            MPI_Alltoall(a, bytes, MPI_BYTE, b, bytes, MPI_BYTE, MPI_COMM_WORLD);
        else
            MPI_Abort(MPI_COMM_WORLD, 2);
    free(a);
    free(b);
    return MPI_Finalize();
}
