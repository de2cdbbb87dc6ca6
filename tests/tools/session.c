/* session.c: collectives on a communicator that comes from a session, without MPI_Init. Ends with
 * status 1 if a result is wrong. */
#include <mpi.h>

int main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, dup;
    int rank, size, sum = 0, wrong = 0;
    MPI_Request request;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "odd", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 8; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        wrong |= sum != size * (size - 1) / 2;
    }
    MPI_Comm_dup(comm, &dup);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, dup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong |= sum != size - 1;
    MPI_Barrier(dup);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return wrong;
}
