/* stalls_coll.c: collective calls on another communicator in which rank 0 is stuck until the others
 * come, which they do when the first collective is done. */
#include "progress.h"

#include <stdlib.h>

static void barrier(stall_context *st)
{
    MPI_Barrier(st->comm);
}

static void allreduce(stall_context *st)
{
    int one = 1, all = 0, size;
    MPI_Comm_size(st->comm, &size);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, st->comm);
    CHECK(all == size, "allreduce gave %d", all);
}

static void bcast(stall_context *st)
{
    MPI_Bcast(st->buf, LONG, MPI_INT, 1, st->comm);
    CHECK(st->buf[1] == 101, "bcast gave %d", st->buf[1]);
}

static void gather(stall_context *st)
{
    enum { N = 1024 };
    int size;
    MPI_Comm_size(st->comm, &size);
    int *all = must_alloc((size_t)size * N * sizeof(int));
    MPI_Gather(st->buf, N, MPI_INT, all, N, MPI_INT, 0, st->comm);
    for (int r = 0; st->rank == 0 && r < size; r++)
        CHECK(all[r * N + 1] == r * 100 + 1, "gather gave %d", all[r * N + 1]);
    free(all);
}

/* A new communicator is right when a sum over it counts its ranks. */
static void use_and_free(MPI_Comm *c, int expected)
{
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, *c);
    CHECK(all == expected, "the new communicator has %d ranks, not %d", all, expected);
    MPI_Comm_free(c);
}

static void comm_dup(stall_context *st)
{
    MPI_Comm c;
    MPI_Comm_dup(st->comm, &c);
    use_and_free(&c, test_size());
}

static void comm_dup_with_info(stall_context *st)
{
    MPI_Comm c;
    MPI_Comm_dup_with_info(st->comm, MPI_INFO_NULL, &c);
    use_and_free(&c, test_size());
}

static void comm_idup(stall_context *st)
{
    MPI_Comm c;
    MPI_Request r;
    MPI_Comm_idup(st->comm, &c, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    use_and_free(&c, test_size());
}

static void comm_split(stall_context *st)
{
    MPI_Comm c;
    MPI_Comm_split(st->comm, 0, -st->rank, &c);
    use_and_free(&c, test_size());
}

static void comm_split_type(stall_context *st)
{
    MPI_Comm c;
    MPI_Comm_split_type(st->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
    int size;
    MPI_Comm_size(c, &size);
    use_and_free(&c, size);
}

static void comm_create(stall_context *st)
{
    MPI_Comm c;
    MPI_Group g;
    MPI_Comm_group(st->comm, &g);
    MPI_Comm_create(st->comm, g, &c);
    MPI_Group_free(&g);
    use_and_free(&c, test_size());
}

static void comm_create_group(stall_context *st)
{
    MPI_Comm c;
    MPI_Group g;
    MPI_Comm_group(st->comm, &g);
    MPI_Comm_create_group(st->comm, g, 3, &c);
    MPI_Group_free(&g);
    use_and_free(&c, test_size());
}

static void cart_create(stall_context *st)
{
    MPI_Comm c;
    int dims[1] = {test_size()}, periods[1] = {1};
    MPI_Cart_create(st->comm, 1, dims, periods, 0, &c);
    use_and_free(&c, test_size());
}

static void intercomm_create_and_merge(stall_context *st)
{
    MPI_Comm part, inter, all;
    int side = st->rank > 0;
    /* the local groups exist already: only the calls under test may block */
    MPI_Comm_dup(side ? st->half : MPI_COMM_SELF, &part);
    MPI_Intercomm_create(part, 0, st->comm, 1 - side, 9, &inter);
    MPI_Intercomm_merge(inter, side, &all);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&part);
    use_and_free(&all, test_size());
}

static void comm_free(stall_context *st)
{
    MPI_Comm_free(&st->spare);
}

static void window(stall_context *st)
{
    MPI_Win w;
    int n = test_size();
    MPI_Comm_set_errhandler(st->comm, MPI_ERRORS_RETURN);
    int rc = MPI_Win_create(st->buf, LONG * sizeof(int), sizeof(int), MPI_INFO_NULL, st->comm, &w);
    MPI_Comm_set_errhandler(st->comm, MPI_ERRORS_ARE_FATAL);
    if (rc != MPI_SUCCESS) { /* Open MPI has none over some of its transports */
        test_skip("window: this MPI makes no window over this transport");
        return;
    }
    MPI_Win_fence(0, w);
    MPI_Put(&st->rank, 1, MPI_INT, (st->rank + 1) % n, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
    CHECK(st->buf[0] == (st->rank + n - 1) % n, "the window holds %d", st->buf[0]);
}

const stall coll_stalls[] = {
    {"barrier", barrier, barrier, true},
    {"allreduce", allreduce, allreduce, true},
    {"bcast", bcast, bcast, true},
    {"gather", gather, gather, true},
    {"comm_dup", comm_dup, comm_dup, true},
    {"comm_dup_with_info", comm_dup_with_info, comm_dup_with_info, true},
    {"comm_idup", comm_idup, comm_idup, true},
    {"comm_split", comm_split, comm_split, true},
    {"comm_split_type", comm_split_type, comm_split_type, true},
    {"comm_create", comm_create, comm_create, true},
    {"comm_create_group", comm_create_group, comm_create_group, true},
    {"cart_create", cart_create, cart_create, true},
    {"intercomm_create and merge", intercomm_create_and_merge, intercomm_create_and_merge, true},
    {"comm_free", comm_free, comm_free, true},
    {"window: create, fence, free", window, window, true},
    {NULL, NULL, NULL, false},
};
