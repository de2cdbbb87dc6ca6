/* wrong.c: preloaded under spmm: an MPI whose neighbour allgather spoils the first block on one
 * rank. */
#include <mpi.h>

int MPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    int rank, result = PMPI_Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                               recvtype, comm);
    PMPI_Comm_rank(comm, &rank);
    for (int i = 0; i < recvcount && rank == 1; i++)
        ((double *)recvbuf)[i] += 1;
    return result;
}
