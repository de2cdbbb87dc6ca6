/* low.c: parts behind MPI_BOTTOM whose addresses are small numbers, as those of constants are in the
 * standard ABI: blocks of a type with an absolute address and an extent of 1 or 2 bytes. */
#include "testlib.h"

#include <stdlib.h>
#include <string.h>

enum { N = 64 }; /* ranks at most */

/* One byte at `at`, seen from MPI_BOTTOM; the next one is `extent` bytes behind it. */
static MPI_Datatype byte_at(const void *at, int extent)
{
    MPI_Datatype one, type;
    MPI_Aint address;
    int length = 1;
    MPI_Get_address(at, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_CHAR, &one);
    MPI_Type_create_resized(one, 0, extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&one);
    return type;
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    PMPI_Type_get_extent(*type, &lb, &extent);
    PMPI_Type_get_true_extent(*type, &true_lb, &true_extent);
    for (int i = 0; i < *n; i++)
        ((char *)inout)[true_lb + i * extent] += ((char *)in)[true_lb + i * extent];
}

/* One byte per rank: algorithms that divide the vector begin at every one of them. */
static void reduction_in_place(int extent)
{
    char data[2 * N];
    int n = test_size();
    MPI_Op op;
    MPI_Datatype type = byte_at(data, extent);
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < 2 * N; i++)
        data[i] = (char)(i % 7);
    MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, n, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < n * extent; i++) {
        int expected = i % 7 * (i % extent ? 1 : test_size());
        CHECK(data[i] == expected, "extent %d: byte %d is %d, not %d", extent, i, data[i],
              expected);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* The root's own block, which it receives with more room than it has. */
static void own_block(int extent)
{
    char data[2 * N], got[2] = {-1, -1};
    int root = test_size() > 1;
    MPI_Datatype type = byte_at(data, extent);
    for (int i = 0; i < 2 * N; i++)
        data[i] = (char)i;
    MPI_Scatter(MPI_BOTTOM, 1, type, got, test_rank() == root ? 2 : 1, MPI_CHAR, root,
                MPI_COMM_WORLD);
    CHECK(got[0] == test_rank() * extent, "extent %d: got %d", extent, got[0]);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "low");
    for (int extent = 1; extent <= 2; extent++) {
        reduction_in_place(extent);
        own_block(extent);
    }
    return test_end();
}
