/* refused.c: calls that go wrong at one rank only. What the host refuses there counts for nothing, so
 * that the ranks agree on what follows: the next call of all ranks gives the right result. */
#include "testlib.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* A call that all ranks make, with its result. */
static void all_ranks(MPI_Comm comm, int k, const char *after)
{
    int p = test_size(), me = test_rank(), in[MOST], out[MOST], root = k % p, bad = 0;
    for (int i = 0; i < p; i++)
        in[i] = me * p + i + k;
    switch (k % 4) {
    case 0:
        MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm);
        bad = out[0] != p * (p * (p - 1) / 2 + k);
        break;
    case 1:
        MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, root, comm);
        for (int i = 0; me == root && i < p; i++)
            bad += out[i] != i * p + k;
        break;
    case 2:
        MPI_Bcast(in, p, MPI_INT, root, comm);
        for (int i = 0; i < p; i++)
            bad += in[i] != root * p + i + k;
        break;
    default:
        MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm);
        for (int i = 0; i < p; i++)
            bad += out[i] != i * p + me + k;
        break;
    }
    CHECK(bad == 0, "call %d after %s has %d wrong values", k, after, bad);
}

/* Call k is refused at the rank that makes it. */
static int refused(MPI_Comm comm, int k, const char **name)
{
    int in[MOST] = {0}, out[MOST], me = test_rank();
    MPI_Request q = MPI_REQUEST_NULL;
    switch (k % 9) {
    case 0:
        *name = "a gather of type null";
        return MPI_Gather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, me, comm);
    case 1:
        *name = "a reduction with operation null";
        return MPI_Reduce(in, out, 1, MPI_INT, MPI_OP_NULL, me, comm);
    case 2:
        *name = "a broadcast of -1 elements";
        return MPI_Bcast(in, -1, MPI_INT, me, comm);
    case 3:
        *name = "a scatter from root -7";
        return MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, -7, comm);
    case 4:
        *name = "an allgather of -1 elements";
        return MPI_Allgather(in, -1, MPI_INT, out, 1, MPI_INT, comm);
    case 5:
        *name = "a nonblocking broadcast of type null";
        return MPI_Ibcast(in, 1, MPI_DATATYPE_NULL, me, comm, &q);
    case 6:
        *name = "a gather of -1 elements";
        return MPI_Gather(in, -1, MPI_INT, out, -1, MPI_INT, me, comm);
    case 7:
        *name = "a reduction within one buffer";
        return k % 2 ? MPI_Reduce(out, out, 1, MPI_INT, MPI_SUM, me, comm)
                     : MPI_Ireduce(out, out, 1, MPI_INT, MPI_SUM, me, comm, &q);
    default:
#ifdef MPICH
        *name = "a gather within one buffer";
        return MPI_Gather(in + me, 1, MPI_INT, in, 1, MPI_INT, me, comm);
#else
        *name = "an alltoall of type null";
        return MPI_Alltoall(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm);
#endif
    }
}

/* One rank, each in its turn, makes calls that the others do not make. */
static void refused_calls_count_for_nothing(MPI_Comm comm)
{
    for (int k = 0; k < 54; k++) {
        const char *name = "";
        test_watch(20, "call %d", k);
        if (test_rank() == k % test_size()) {
            int rc = refused(comm, k, &name);
            CHECK(rc != MPI_SUCCESS, "%s is not refused", name);
        }
        all_ranks(comm, k, name);
    }
}

/* Such calls among long ones, until it pays to adopt the communicator: all ranks must find so in the same
 * call. */
static void ranks_agree_when_to_adopt(void)
{
    enum { CALLS = 200, N = 1 << 16 };
    MPI_Comm comm;
    int *data = must_alloc(N * sizeof *data), p = test_size(), me = test_rank();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int k = 0; k < CALLS; k++) {
        const char *name = "";
        test_watch(20, "long call %d", k);
        if (me == k % 7 % p)
            refused(comm, k, &name);
        for (int i = 0; i < N; i++)
            data[i] = me == k % p ? i + k : -1;
        MPI_Bcast(data, N, MPI_INT, k % p, comm);
        int bad = 0;
        for (int i = 0; i < N; i++)
            bad += data[i] != i + k;
        CHECK(bad == 0, "bcast %d after %s: %d wrong elements", k, name, bad);
    }
    MPI_Comm_free(&comm);
    free(data);
}

/* What the root sends to itself does not fit its own block. The others send theirs, and go on. */
static void own_block_does_not_fit(MPI_Comm comm)
{
    enum { LONG = 10 };
    int in[LONG] = {0}, out[MOST * LONG], me = test_rank(), p = test_size();
    for (int k = 0; k < 12; k++) {
        bool root = me == k % p, scatters = k % 2;
        test_watch(20, "a block that does not fit, call %d", k);
        for (int i = 0; i < MOST * LONG; i++)
            out[i] = -1;
        in[0] = me;
        int rc = scatters
                     ? MPI_Scatter(out, LONG, MPI_INT, in, root ? 1 : LONG, MPI_INT, k % p, comm)
                     : MPI_Gather(in, root ? LONG : 1, MPI_INT, out, 1, MPI_INT, k % p, comm);
        int class;
        MPI_Error_class(rc, &class);
        CHECK(class == (root ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
              "a %s with a too long block of the root: class %d at the root %d",
              scatters ? "scatter" : "gather", class, root);
        all_ranks(comm, k, "a block that does not fit");
    }
}

/* A shorter one is no error to the hosts: some programs mean MPI_IN_PLACE by it. Open MPI loses blocks
 * of others then. */
static void own_block_may_be_shorter(MPI_Comm comm)
{
    int in = test_rank(), out[MOST], me = test_rank(), p = test_size();
    MPI_Request q;
    for (int k = 0; k < 12; k++) {
        bool root = me == k % p;
        test_watch(20, "an empty block of the root, call %d", k);
        memset(out, 0xff, sizeof out);
        if (k % 2)
            MPI_Gather(&in, root ? 0 : 1, MPI_INT, out, 1, MPI_INT, k % p, comm);
        else {
            MPI_Igather(&in, root ? 0 : 1, MPI_INT, out, 1, MPI_INT, k % p, comm, &q);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        }
        for (int i = 0; root && i < p; i++)
            CHECK(out[i] == (i == me ? -1 : i), "block %d of a gather holds %d", i, out[i]);
        all_ranks(comm, k, "an empty block of the root");
    }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "refused");
    if (test_size() > MOST) {
        test_skip("at most %d ranks", MOST);
        return test_end();
    }
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    refused_calls_count_for_nothing(comm);
    ranks_agree_when_to_adopt();
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (!test_on_host()) { /* which gets out of step */
        test_adopt(comm);
        own_block_may_be_shorter(comm);
        own_block_does_not_fit(comm);
    }
    MPI_Comm_free(&comm);
    return test_end();
}
