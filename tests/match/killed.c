/* killed.c: a rank is killed without warning at a moment drawn from the seed, from before MPI_Init
 * on, in the middle of traffic of all kinds: killed SEED. The others must not crash, and the
 * launcher must be able to end them. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../mpi/testlib.h"

enum { MS = 1000000, LATEST = 300 * MS, LONGEST = 1 << 20, TAG = 5 };

static void say_crash(int sig)
{
    static const char text[] = "killed: a rank that was not killed crashed\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    signal(sig, SIG_DFL);
    raise(n < 0 ? SIGKILL : sig);
}

/* Before MPI_Init only the launcher's environment knows the rank. */
static int from_launcher(const char *openmpi, const char *other)
{
    const char *text = getenv(openmpi);
    if (text == NULL)
        text = getenv(other);
    return text != NULL ? atoi(text) : 0;
}

static void die_later(long ns)
{
    struct itimerspec when = {.it_value.tv_nsec = ns + 1};
    struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &how, &timer) != 0 ||
        timer_settime(timer, 0, &when, NULL) != 0)
        exit(3);
}

/* Letters to all ranks, read from anyone; long and short, some asked for, some not. */
static void exchange(char *out, char *in, MPI_Request *req, int bytes)
{
    int size = test_size();
    for (int to = 0; to < size; to++)
        (to % 2 ? MPI_Isend : MPI_Issend)(out, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &req[to]);
    for (int i = 0; i < size; i++)
        MPI_Recv(in, LONGEST, MPI_BYTE, MPI_ANY_SOURCE, i % 2 ? MPI_ANY_TAG : TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Waitall(size, req, MPI_STATUSES_IGNORE);
    MPI_Allreduce(out, in, bytes / 8, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    rng r = rng_seed(argc > 1 ? strtoull(argv[1], NULL, 10) : 1, 0, 0);
    int size = from_launcher("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");
    int victim = rng_below(&r, size > 0 ? size : 1), when = rng_below(&r, LATEST);
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    for (int i = 0; i < 5; i++)
        signal(crashes[i], say_crash);
    bool early = rng_chance(&r, 40);
    if (early && from_launcher("OMPI_COMM_WORLD_RANK", "PMI_RANK") == victim)
        die_later(when);
    alarm(150); /* ends even those that the launcher forgot */
    test_begin(&argc, &argv, "killed");
    test_watch(20, "the end after a rank was killed");
    char *out = must_alloc(LONGEST), *in = must_alloc(LONGEST);
    MPI_Request *req = must_alloc((size_t)test_size() * sizeof *req);
    exchange(out, in, req, 8);
    if (test_rank() == 0)
        fputs("killed: traffic\n", stderr);
    if (!early && test_rank() == victim)
        die_later(when);
    for (;;) {
        exchange(out, in, req, 8);
        exchange(out, in, req, 5000);
        exchange(out, in, req, 1 << (int)(6 + rng_below(&r, 14)));
    }
}
