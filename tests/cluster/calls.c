/* calls.c COLLECTIVE BYTES TIMES: so many calls of one collective on MPI_COMM_WORLD. Alltoallv is one persistent
 * call that is started so often. */
#include <mpi.h>
#if MPI_VERSION < 4
#include <mpi-ext.h>
#define MPI_Alltoallv_init MPIX_Alltoallv_init
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int *even_counts(int bytes, int n)
{
    int *counts = calloc(2 * (size_t)n, sizeof *counts);
    if (!counts)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; counts && i < n; i++) {
        counts[i] = bytes;
        counts[n + i] = i * bytes;
    }
    return counts;
}

static void gatherv(const char *a, char *b, int bytes, int n)
{
    int *counts = even_counts(bytes, n);
    MPI_Gatherv(a, bytes, MPI_BYTE, b, counts, counts + n, MPI_BYTE, 0, MPI_COMM_WORLD);
    free(counts);
}

static void scatterv(const char *a, char *b, int bytes, int n)
{
    int *counts = even_counts(bytes, n);
    MPI_Scatterv(a, counts, counts + n, MPI_BYTE, b, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    free(counts);
}

static void alltoallv(const char *a, char *b, int bytes, int n, int times)
{
    MPI_Request request;
    int *counts = even_counts(bytes, n), *displs = counts + n;
    MPI_Alltoallv_init(a, counts, displs, MPI_BYTE, b, counts, displs, MPI_BYTE, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    for (int i = 0; i < times; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    free(counts);
}

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
    if (strcmp(argv[1], "alltoallv") == 0)
        alltoallv(a, b, bytes, n, times);
    for (int i = 0; i < times && strcmp(argv[1], "alltoallv") != 0; i++)
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
        else if (strcmp(argv[1], "gatherv") == 0)
            gatherv(a, b, bytes, n);
        else if (strcmp(argv[1], "scatterv") == 0)
            scatterv(a, b, bytes, n);
        else
            MPI_Abort(MPI_COMM_WORLD, 2);
    free(a);
    free(b);
    return MPI_Finalize();
}
