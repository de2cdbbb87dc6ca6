/* collectives.c: allgather and allreduce of many simulated ranks against values computed here. The
 * program is linked with libskein-smpi.a; it ends with status 1 on any wrong value. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* What rank r has at index i. */
static int value(int r, int i)
{
    return r * 131 + i * 7 + 3;
}

static int wrong_allgather(int n, int rank, int size)
{
    int *mine = malloc((size_t)n * sizeof *mine), bad = 0;
    int *all = calloc((size_t)n * (size_t)size, sizeof *all);
    for (int i = 0; i < n; i++)
        mine[i] = value(rank, i);
    MPI_Allgather(mine, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            bad += all[r * n + i] != value(r, i);
    free(mine);
    free(all);
    return bad;
}

static int wrong_allreduce(int n, int rank, int size)
{
    int *mine = malloc((size_t)n * sizeof *mine), *sum = calloc((size_t)n, sizeof *sum), bad = 0;
    for (int i = 0; i < n; i++)
        mine[i] = value(rank, i);
    MPI_Allreduce(mine, sum, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        bad += sum[i] != 131 * (size * (size - 1) / 2) + size * (i * 7 + 3);
    free(mine);
    free(sum);
    return bad;
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 3, 64, 1000};
    int rank, size, bad = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 4; i++) {
        int a = wrong_allgather(sizes[i], rank, size),
            b = wrong_allreduce(sizes[i] * 10, rank, size);
        if (a + b > 0)
            printf("rank %d: %d ints: %d wrong in allgather, %d in allreduce\n", rank, sizes[i], a,
                   b);
        bad += a + b;
    }
    PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %d wrong values\n", size, all);
    MPI_Finalize();
    return all != 0;
}
