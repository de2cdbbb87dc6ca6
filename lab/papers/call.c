/* call.c: simulated time of a collective by Skein, for several sizes. Linked with libskein-smpi.a, run by
 * simulate.py. Settings choose the algorithms.
 *   call COLLECTIVE NS BYTES...
 * NS: what it takes to reduce a byte.
 * BYTES: the vector of a reduction or of bcast; for the others all blocks together, as the papers count.
 * Prints CSV: bytes, and microseconds until the last rank is done. Values are not looked at: buffers are
 * shared by all ranks, and tests/sim checks results. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct call {
    int rank, size, *counts, *displs;
    char *from, *to;
    MPI_Op sum; /* takes the time that a sum takes, and does nothing */
} call;

static double reduce_ns;

static void reduce_for_a_time(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int bytes = 0;
    (void)in;
    (void)inout;
    MPI_Type_size(*type, &bytes);
    smpi_execute_benched(1e-9 * reduce_ns * bytes * *n);
}

/* A block of n bytes for each rank, the last ones shorter or empty; returns the longest. */
static int divide(call *c, long n)
{
    int each = (int)((n + c->size - 1) / c->size);
    for (int r = 0; r < c->size; r++) {
        long left = n - (long)each * r;
        c->counts[r] = left < 0 ? 0 : left < each ? (int)left : each;
        c->displs[r] = r == 0 ? 0 : c->displs[r - 1] + c->counts[r - 1];
    }
    return each;
}

static void scatter(call *c, long n)
{
    int each = divide(c, n);
    MPI_Scatter(c->from, each, MPI_CHAR, c->to, each, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void gather(call *c, long n)
{
    int each = divide(c, n);
    MPI_Gather(c->from, each, MPI_CHAR, c->to, each, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void allgather(call *c, long n)
{
    int each = divide(c, n);
    MPI_Allgather(c->from, each, MPI_CHAR, c->to, each, MPI_CHAR, MPI_COMM_WORLD);
}

static void alltoall(call *c, long n)
{
    int each = divide(c, n);
    MPI_Alltoall(c->from, each, MPI_CHAR, c->to, each, MPI_CHAR, MPI_COMM_WORLD);
}

static void bcast(call *c, long n)
{
    MPI_Bcast(c->to, (int)n, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void reduce(call *c, long n)
{
    MPI_Reduce(c->from, c->to, (int)(n / 4), MPI_INT, c->sum, 0, MPI_COMM_WORLD);
}

static void allreduce(call *c, long n)
{
    MPI_Allreduce(c->from, c->to, (int)(n / 4), MPI_INT, c->sum, MPI_COMM_WORLD);
}

static void reduce_scatter(call *c, long n)
{
    divide(c, n / 4);
    MPI_Reduce_scatter(c->from, c->to, c->counts, MPI_INT, c->sum, MPI_COMM_WORLD);
}

/* As MPICH did it before: a reduction to rank 0, and from there a block to each. */
static void reduce_then_scatterv(call *c, long n)
{
    MPI_Reduce(c->from, c->to, (int)(n / 4), MPI_INT, c->sum, 0, MPI_COMM_WORLD);
    divide(c, n / 4);
    MPI_Scatterv(c->to, c->counts, c->displs, MPI_INT, c->from, c->counts[c->rank], MPI_INT, 0,
                 MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*run)(call *c, long n);
} calls[] = {
    {"scatter", scatter},
    {"gather", gather},
    {"allgather", allgather},
    {"alltoall", alltoall},
    {"bcast", bcast},
    {"reduce", reduce},
    {"allreduce", allreduce},
    {"reduce_scatter", reduce_scatter},
    {"reduce_then_scatterv", reduce_then_scatterv},
};

static int find(const char *name)
{
    for (int i = 0; i < (int)(sizeof calls / sizeof *calls); i++)
        if (strcmp(name, calls[i].name) == 0)
            return i;
    return -1;
}

/* Ranks leave a barrier one after the other: all sleep until a common moment after it. */
static void begin_together(double *begin)
{
    double now = 0, last = 0;
    PMPI_Barrier(MPI_COMM_WORLD);
    now = MPI_Wtime();
    PMPI_Allreduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    *begin = ceil(last * 10) / 10 + 0.1;
    double left = *begin - MPI_Wtime();
    struct timespec t = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9)};
    nanosleep(&t, NULL);
}

/* The second of two calls: the first one makes the plan. */
static double time_of(int which, call *c, long n)
{
    double begin = 0, mine, last = 0;
    for (int i = 0; i < 2; i++) {
        begin_together(&begin);
        calls[which].run(c, n);
    }
    mine = MPI_Wtime() - begin;
    PMPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return last;
}

int main(int argc, char **argv)
{
    call c = {0};
    long most = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c.size);
    int which = argc > 3 ? find(argv[1]) : -1;
    if (which < 0) {
        fprintf(stderr, "usage: call COLLECTIVE NS BYTES...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 3; i < argc; i++)
        most = atol(argv[i]) > most ? atol(argv[i]) : most;
    reduce_ns = atof(argv[2]);
    MPI_Op_create(reduce_for_a_time, 1, &c.sum);
    most += 4L * c.size + 64; /* blocks are rounded up */
    c.from = SMPI_SHARED_MALLOC((size_t)most);
    c.to = SMPI_SHARED_MALLOC((size_t)most);
    c.counts = calloc((size_t)c.size, sizeof *c.counts);
    c.displs = calloc((size_t)c.size, sizeof *c.displs);
    if (c.rank == 0)
        printf("x,us\n");
    for (int i = 3; i < argc; i++) {
        double seconds = time_of(which, &c, atol(argv[i]));
        if (c.rank == 0)
            printf("%s,%.4f\n", argv[i], seconds * 1e6);
    }
    SMPI_SHARED_FREE(c.from);
    SMPI_SHARED_FREE(c.to);
    free(c.counts);
    free(c.displs);
    MPI_Op_free(&c.sum);
    MPI_Finalize();
    return 0;
}
