/* dynamic.c spawn|accept: processes that meet after their start. Communicators with ranks outside
 * MPI_COMM_WORLD, and collectives on them. Ends with status 1 if something is wrong, and with 77 if the
 * MPI cannot do it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { CANNOT = 77 };

static int wrong;

static void expect(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "wrong: %s\n", what);
        wrong = 1;
    }
}

/* Both sides of an intercommunicator come here; `all` is how many ranks there are. */
static void meet(MPI_Comm inter, int high, int all)
{
    int size, remote, one = 1, sum = 0;
    MPI_Comm merged, dup;
    MPI_Request request;
    MPI_Comm_remote_size(inter, &remote);
    MPI_Barrier(inter);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    expect(sum == remote, "sum over an intercommunicator");
    MPI_Intercomm_merge(inter, high, &merged);
    MPI_Comm_size(merged, &size);
    expect(size == all, "merged size");
    for (int i = 0; i < 8; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
        expect(sum == all, "sum over worlds");
    }
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(sum == all, "nonblocking sum over worlds");
    MPI_Comm_dup(merged, &dup);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, dup);
    expect(sum == all, "sum over a duplicate");
    MPI_Comm_free(&dup);
    MPI_Comm_free(&merged);
}

static void spawn(char **argv, int size)
{
    MPI_Comm children;
    char *args[] = {"child", NULL};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(argv[0], args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, CANNOT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    meet(children, 0, size + 2);
    MPI_Comm_disconnect(&children);
}

/* The halves of MPI_COMM_WORLD meet through a port. */
static void accept_half(int rank, int size)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, other;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    if (rank == 0 && MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, CANNOT);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if ((rank % 2 == 0 ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other)
                       : MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other)) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, CANNOT);
    meet(other, rank % 2, size);
    MPI_Comm_disconnect(&other);
    if (rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int rank, size, one = 1, sum;
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    for (int i = 0; i < 6; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (parent != MPI_COMM_NULL) {
        meet(parent, 1, size + 2);
        MPI_Comm_disconnect(&parent);
    } else if (strcmp(argv[1], "spawn") == 0)
        spawn(argv, size);
    else
        accept_half(rank, size);
    MPI_Finalize();
    return wrong;
}
