/* waits.c: a rank that waits long for a late one leaves its core to others, also where every rank seems
 * to have a core. */
#include <mpi.h>
#include <sys/resource.h>
#include <time.h>

#include "testlib.h"

enum { LATE_MS = 400 };

static double in[2] = {1, 2}, out[2];

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void)
{
    MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void iallreduce(void)
{
    MPI_Request r;
    MPI_Iallreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void two_requests(void)
{
    MPI_Request r[2];
    for (int i = 0; i < 2; i++)
        MPI_Iallreduce(in + i, out + i, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r[i]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void wait_for_the_last_rank(const char *name, void (*call)(void))
{
    test_watch(30, "%s", name);
    for (int i = 0; i < 10; i++)
        call();
    if (test_rank() == test_size() - 1)
        nanosleep(&(struct timespec){.tv_nsec = LATE_MS * 1000000L}, NULL);
    double cpu = cpu_seconds(), wall = MPI_Wtime();
    call();
    cpu = cpu_seconds() - cpu;
    wall = MPI_Wtime() - wall;
    if (test_rank() < test_size() - 1)
        CHECK(cpu < wall / 2, "%s: %.0f ms of processor time in a wait of %.0f ms", name, cpu * 1e3,
              wall * 1e3);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "waits");
    test_adopt(MPI_COMM_WORLD);
    wait_for_the_last_rank("barrier", barrier);
    wait_for_the_last_rank("allreduce", allreduce);
    wait_for_the_last_rank("iallreduce", iallreduce);
    wait_for_the_last_rank("two requests", two_requests);
    return test_end();
}
