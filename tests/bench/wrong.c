/* wrong.c: preloaded instead of Skein: an allreduce that gets one bit of one rank wrong. */
#include <mpi.h>

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    int rank, size, status = PMPI_Allreduce(send, recv, count, type, op, comm);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (rank == size - 1 && count > 0)
        *(unsigned char *)recv ^= 1;
    return status;
}

/* The benchmark looks at this one to see whether a library sits in between. */
int MPI_Barrier(MPI_Comm comm)
{
    return PMPI_Barrier(comm);
}
