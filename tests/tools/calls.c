/* calls.c: a program whose calls are known, so that a tool's count of them and Skein's can be
 * compared. Ends with status 1 if a result is wrong. With PMPI it calls the PMPI_ names itself. */
#include <mpi.h>
#include <stdio.h>

#ifdef PMPI
#define MPI(name) PMPI_##name
#else
#define MPI(name) MPI_##name
#endif

static int wrong;

static void expect(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "wrong: %s\n", what);
        wrong = 1;
    }
}

static void communicators(int rank, int size)
{
    MPI_Comm dup, half, cart;
    int dims[1] = {size}, periods[1] = {1}, x = 0;
    MPI(Comm_dup)(MPI_COMM_WORLD, &dup);
    MPI(Comm_split)(MPI_COMM_WORLD, 0, -rank, &half);
    MPI(Cart_create)(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
    double y = 1, total = 0; /* rounds, so Skein serves it on a new communicator too */
    MPI(Allreduce)(&y, &total, 1, MPI_DOUBLE, MPI_SUM, dup);
    expect(total == size, "sum on a duplicate");
    MPI(Comm_rank)(half, &x);
    expect(x == size - 1 - rank, "split");
    MPI(Comm_free)(&cart);
    MPI(Comm_free)(&half);
    MPI(Comm_free)(&dup);
}

int main(int argc, char **argv)
{
    int rank, size, x = 1, sum = 0, sums[3] = {0};
    MPI_Request requests[3];
    MPI(Init)(&argc, &argv);
    MPI(Comm_rank)(MPI_COMM_WORLD, &rank);
    MPI(Comm_size)(MPI_COMM_WORLD, &size);
    MPI(Barrier)(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        MPI(Allreduce)(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(sum == size, "sum");
    }
    sum = rank == 0 ? 7 : 0;
    MPI(Bcast)(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    expect(sum == 7, "bcast");
    for (int i = 0; i < 3; i++)
        MPI(Iallreduce)(&x, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    MPI(Wait)(&requests[0], MPI_STATUS_IGNORE);
    MPI(Waitall)(2, requests + 1, MPI_STATUSES_IGNORE);
    expect(sums[0] == size && sums[1] == size && sums[2] == size, "sums of nonblocking calls");
    communicators(rank, size);
    for (int i = 0; i < 2; i++)
        if (rank == 0)
            MPI(Recv)(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (rank == 1)
            MPI(Send)(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI(Finalize)();
    return wrong;
}
