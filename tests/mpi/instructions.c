/* instructions.c: N allreduces of 8 bytes, or the lives of N communicators with some of these in each, for
 * instructions.sh to count under callgrind, which looks only into `measured`: what comes before it, up
 * to waiting for the other rank, is not the same in every run.
 *   instructions [N [lives]] */
#include "testlib.h"

#include <stdlib.h>

long measured(int n, bool lives);

static long allreduce(int n, MPI_Comm comm)
{
    long in = 1, out = 0;
    for (int i = 0; i < n; i++)
        MPI_Allreduce(&in, &out, 1, MPI_LONG, MPI_SUM, comm);
    return out;
}

static long live(int n)
{
    enum { CALLS = 8 };
    long out = 0;
    for (int i = 0; i < n; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        out = allreduce(CALLS, comm);
        MPI_Comm_free(&comm);
    }
    return out;
}

__attribute__((noinline)) long measured(int n, bool lives)
{
    return lives ? live(n) : allreduce(n, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "instructions");
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    enum { WARM_UP = 50 };
    bool lives = argc > 2;
    if (lives)
        live(WARM_UP);
    else
        allreduce(WARM_UP, MPI_COMM_WORLD);
    long out = measured(n, lives);
    CHECK(out == test_size(), "the sum is %ld", out);
    return test_end();
}
