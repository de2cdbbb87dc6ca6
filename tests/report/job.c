/* job.c MODE: a job whose report is looked at. The mode says what it does, or how it ends. */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MB = 1 << 20, CALLS = 10, COMPARED_CALLS = 2000, COMPARED_SIZES = 8 };

static int rank, nranks;

static void allreduces(int n)
{
    double x = 1, y;
    for (int i = 0; i < n; i++)
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void v_forms(void)
{
    int *counts = calloc((size_t)nranks * 2, sizeof *counts), *displs = counts + nranks;
    char *from = calloc((size_t)nranks, MB), *to = calloc((size_t)nranks, MB);
    for (int i = 0; i < nranks; i++) {
        counts[i] = MB;
        displs[i] = i * MB;
    }
    MPI_Alltoallv(from, counts, displs, MPI_CHAR, to, counts, displs, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Gatherv(from, MB, MPI_CHAR, to, counts, displs, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Scatterv(from, counts, displs, MPI_CHAR, to, MB, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Allgatherv(from, MB, MPI_CHAR, to, counts, displs, MPI_CHAR, MPI_COMM_WORLD);
    free(counts);
    free(from);
    free(to);
}

static void many_sizes(void)
{
    char x[500];
    memset(x, 0, sizeof x);
    for (int i = 1; i <= 300; i++)
        MPI_Bcast(x, i, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Sums of integers, each size often enough for two rounds of the guard. */
static void compared_sizes(void)
{
    int x[1 << COMPARED_SIZES] = {0}, y[1 << COMPARED_SIZES];
    for (int k = 0; k < COMPARED_SIZES; k++)
        for (int i = 0; i < COMPARED_CALLS; i++)
            MPI_Allreduce(x, y, 1 << k, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Communicators with names, a neighbourhood, and a rank that comes late: a tenth of a second in all. */
static void named(void)
{
    enum { LATE_CALLS = 20, LATE_US = 5000 };
    int x = 1, y[2], degree = 1, other = 1 - rank;
    MPI_Comm pair, graph;
    MPI_Comm_dup(MPI_COMM_WORLD, &pair);
    MPI_Comm_set_name(pair, "<script>alert(\"pair\")</script>");
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, &other, MPI_UNWEIGHTED, degree, &other,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_set_name(graph, "halo");
    for (int i = 0; i < LATE_CALLS; i++) {
        if (rank == 1)
            usleep(LATE_US);
        MPI_Allreduce(&x, y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(y, 1, MPI_INT, 0, pair);
        MPI_Neighbor_allgather(&x, 1, MPI_INT, y, 1, MPI_INT, graph);
    }
    MPI_Request q;
    MPI_Iallreduce(&x, y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_free(&pair);
    MPI_Comm_free(&graph);
}

static void wait_for_signal(void)
{
    allreduces(CALLS);
    if (rank == 0) {
        puts("waiting");
        fflush(stdout);
    }
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "no-mpi"))
        return 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (!strcmp(mode, "sizes"))
        v_forms();
    else if (!strcmp(mode, "many"))
        many_sizes();
    else if (!strncmp(mode, "compare", strlen("compare")))
        compared_sizes();
    else if (!strcmp(mode, "named"))
        named();
    else if (!strcmp(mode, "wait"))
        wait_for_signal();
    else if (strcmp(mode, "idle") != 0)
        allreduces(CALLS);
    bool aborts = !strcmp(mode, "abort") || !strcmp(mode, "compare-abort");
    if (aborts && rank == nranks - 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (aborts)
        pause();
    if (!strcmp(mode, "exit")) {
        /* MPICH's launcher kills the others at the first exit: rank 0 writes before that. */
        if (rank != 0)
            sleep(1);
        exit(0);
    }
    if (!strcmp(mode, "kill") && rank == 0)
        raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
