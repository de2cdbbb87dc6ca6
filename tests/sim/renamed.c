/* renamed.c: simulated time of an allreduce of long vectors, checked against values computed here.
 * The program is linked with libskein-smpi.a; it prints a line "BYTES MICROSECONDS" per size and
 * ends with status 1 on any wrong value. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARM_UP = 8, SMALLEST = 256 * 1024, LARGEST = 4 * 1024 * 1024 };

/* What rank r has at index i: whole numbers, so that sums are exact in any order. */
static double value(int r, int i)
{
    return r * 131 + i % 1009;
}

/* The vector as one rank brings it; wrong places of the result. */
static int reduce(int n, int rank, int size, double *mine, double *sum)
{
    int bad = 0;
    for (int i = 0; i < n; i++)
        mine[i] = value(rank, i);
    MPI_Allreduce(mine, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        bad += sum[i] != 131.0 * size * (size - 1) / 2 + (double)size * (i % 1009);
    return bad;
}

int main(int argc, char **argv)
{
    int rank, size, bad = 0, all = 0;
    double *mine = malloc(LARGEST), *sum = malloc(LARGEST);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!mine || !sum)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < WARM_UP; i++) /* until the ranks know where each of them sits */
        bad += reduce(size, rank, size, mine, sum);
    for (int bytes = SMALLEST; bytes <= LARGEST; bytes *= 2) {
        int n = bytes / (int)sizeof(double);
        bad += reduce(n, rank, size, mine, sum); /* the plan is made here */
        PMPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        bad += reduce(n, rank, size, mine, sum);
        double time = MPI_Wtime() - begin, most = 0;
        PMPI_Reduce(&time, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%d %.3f\n", bytes, 1e6 * most);
    }
    PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %d wrong values\n", size, all);
    MPI_Finalize();
    free(mine);
    free(sum);
    return all != 0;
}
