/* wrong.c: preloaded instead of Skein: an allreduce and a neighbor_allgather that get one bit of
 * one rank wrong, and an iallreduce with another operation. */
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

int MPI_Iallreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    (void)op;
    return PMPI_Iallreduce(send, recv, count, type, MPI_MIN, comm, request);
}

int MPI_Neighbor_allgather(const void *send, int scount, MPI_Datatype stype, void *recv, int rcount,
                           MPI_Datatype rtype, MPI_Comm comm)
{
    int rank, size,
        status = PMPI_Neighbor_allgather(send, scount, stype, recv, rcount, rtype, comm);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (rank == size - 1 && rcount > 0)
        *(unsigned char *)recv ^= 1;
    return status;
}

/* The benchmark looks at this one to see whether a library sits in between. */
int MPI_Barrier(MPI_Comm comm)
{
    return PMPI_Barrier(comm);
}
