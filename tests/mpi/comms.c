/* comms.c: see comms.h. */
#include "comms.h"

static const char *const names[NCOMMS] = {"the parent", "a duplicate", "reversed",
                                          "even/odd",   "a Cartesian", "all but the last",
                                          "itself",     "shuffled",    "halves, reversed"};

const char *comms_name(int kind)
{
    return names[kind];
}

/* The first calls on a communicator that was made without blocking: nonblocking ones are the
 * host's, whose bugs with odd datatypes are not ours to test, until a blocking one comes. */
static void use_first(MPI_Comm comm)
{
    int size, one = 1, sum = 0;
    MPI_Request early;
    MPI_Comm_size(comm, &size);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &early);
    MPI_Barrier(comm);
    MPI_Wait(&early, MPI_STATUS_IGNORE);
    CHECK(sum == size, "a duplicate's first nonblocking sum is %d, not %d", sum, size);
}

void comms_make(comms *c, MPI_Comm parent)
{
    int size, rank, dims[2] = {0, 0}, periods[2] = {1, 0};
    MPI_Request dup;
    MPI_Comm_size(parent, &size);
    MPI_Comm_rank(parent, &rank);
    MPI_Dims_create(size, 2, dims);
    MPI_Comm_dup(parent, &c->of[0]); /* so that all can be freed alike */
    MPI_Comm_idup(c->of[0], &c->of[1], &dup);
    MPI_Wait(&dup, MPI_STATUS_IGNORE);
    use_first(c->of[1]);
    MPI_Comm_split(parent, 0, -rank, &c->of[2]);
    MPI_Comm_split(parent, rank % 2, rank, &c->of[3]);
    MPI_Cart_create(parent, 2, dims, periods, 0, &c->of[4]);
    MPI_Comm_split(parent, rank < size - 1 ? 1 : MPI_UNDEFINED, 0, &c->of[5]);
    MPI_Comm_split(parent, rank, 0, &c->of[6]);
    MPI_Comm_split(parent, 7, rank * 7919 % 101, &c->of[7]);
    MPI_Comm_split(parent, rank < size / 2, -rank, &c->of[8]);
    for (int i = 0; i < NCOMMS; i++)
        if (c->of[i] != MPI_COMM_NULL)
            test_adopt(c->of[i]); /* a nonblocking call may come first, and it is to be Skein's */
}

void comms_free(comms *c)
{
    for (int i = 0; i < NCOMMS; i++)
        if (c->of[i] != MPI_COMM_NULL)
            MPI_Comm_free(&c->of[i]);
}
