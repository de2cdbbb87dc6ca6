/* killed.c: ranks go from collective to collective until one of them is killed without warning, at
 * a moment drawn from the seed: killed SEED. The launcher must end the others. killed none FILE: nobody
 * is killed by this program, and rank 0 makes the file when all are under way. */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "testlib.h"

enum { LONG = 1 << 15 };

static void round_of_calls(const double *in, double *out)
{
    static const int counts[] = {1, 100, 4000};
    for (int i = 0; i < 3; i++) {
        MPI_Allreduce(in, out, counts[i], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(out, counts[i] * 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        MPI_Alltoall(in, counts[i] / 8, MPI_DOUBLE, out, counts[i] / 8, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Allgather(in, counts[i], MPI_DOUBLE, out, counts[i], MPI_DOUBLE, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "killed");
    rng r = rng_seed(argc > 1 ? strtoull(argv[1], NULL, 10) : 1, 0, 0);
    bool none = argc > 2 && strcmp(argv[1], "none") == 0;
    int victim = none ? -1 : rng_below(&r, test_size());
    struct itimerspec when = {.it_value.tv_nsec = 100000000L + rng_below(&r, 300000) * 1000L};
    double *in = calloc(LONG, sizeof *in);
    double *out = calloc((size_t)LONG * (size_t)test_size(), sizeof *out);
    if (in == NULL || out == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    test_watch(30, "the end after a rank was killed");
    round_of_calls(in, out);
    if (test_rank() == victim) {
        struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
        timer_t timer;
        timer_create(CLOCK_MONOTONIC, &how, &timer);
        timer_settime(timer, 0, &when, NULL);
    }
    if (none && test_rank() == 0)
        fclose(fopen(argv[2], "w"));
    for (;;)
        round_of_calls(in, out);
}
