/* instructions.c: N allreduces of 8 bytes, for instructions.sh to count under callgrind, which
 * looks only into `measured`: what comes before it, up to waiting for the other rank, is not the
 * same in every run. */
#include "testlib.h"

#include <stdlib.h>

long measured(int n);

__attribute__((noinline)) long measured(int n)
{
    long in = 1, out = 0;
    for (int i = 0; i < n; i++)
        MPI_Allreduce(&in, &out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return out;
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "instructions");
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    long in = 1, out = 0;
    for (int i = 0; i < 50; i++)
        MPI_Allreduce(&in, &out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    out = measured(n);
    CHECK(out == test_size(), "the sum is %ld", out);
    return test_end();
}
