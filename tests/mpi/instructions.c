/* instructions.c: N allreduces of 8 bytes, for instructions.sh to count under callgrind. */
#include "testlib.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "instructions");
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    long in = 1, out = 0;
    for (int i = 0; i < n; i++)
        MPI_Allreduce(&in, &out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(out == test_size(), "the sum is %ld", out);
    return test_end();
}
