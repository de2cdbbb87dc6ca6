/* cg.c: the conjugate-gradient method for the Poisson equation on a square, an ordinary MPI
 * program.
 *
 * The grid has size x size inner points and a five-point stencil. Its points are numbered row by
 * row and divided into one block per rank. Rank 0 makes up a solution, computes the right-hand side
 * from it and scatters the blocks; in the end the result is compared with the solution. Each
 * iteration needs the whole search direction (MPI_Allgatherv) and two dot products: one blocking
 * (MPI_Allreduce), one while the solution is updated (MPI_Iallreduce).
 *
 *   mpicc cg.c -o cg -lm && mpirun -n 4 ./cg 128 */
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_SIZE = 2000 };

/* Time spent in collectives, by this rank. */
static double collective_time;
#define COLLECTIVE(call)                                                                           \
    do {                                                                                           \
        double start_ = MPI_Wtime();                                                               \
        call;                                                                                      \
        collective_time += MPI_Wtime() - start_;                                                   \
    } while (0)

struct job {
    int ok; /* 0: the arguments were wrong */
    int size, max_iterations;
    double tolerance;
};

struct grid {
    int size, points; /* inner points in a row, and in all */
    int rank, ranks;
    int first, mine;      /* this rank's block */
    int *counts, *starts; /* of all ranks */
};

static void *get(size_t count, size_t bytes)
{
    void *p = calloc(count ? count : 1, bytes);
    if (!p) {
        fprintf(stderr, "cg: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static int read_number(const char *text, double least, double most, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return end != text && !*end && !errno && *value >= least && *value <= most;
}

static struct job read_arguments(int argc, char **argv)
{
    double size = 128, iterations = 10000, tolerance = 1e-10;
    struct job j = {.ok = argc <= 4};
    j.ok = j.ok && (argc < 2 || read_number(argv[1], 1, MAX_SIZE, &size)) && size == floor(size);
    j.ok = j.ok && (argc < 3 || read_number(argv[2], 1, 1e6, &iterations)) &&
           iterations == floor(iterations);
    j.ok = j.ok && (argc < 4 || read_number(argv[3], 1e-14, 1, &tolerance));
    if (!j.ok)
        fprintf(stderr,
                "usage: cg [SIZE [ITERATIONS [TOLERANCE]]]\n"
                "SIZE        inner points along a side, 1 to %d (128)\n"
                "ITERATIONS  give up after so many, 1 to 1000000 (10000)\n"
                "TOLERANCE   of the residual, relative, 1e-14 to 1 (1e-10)\n",
                MAX_SIZE);
    j.size = (int)size;
    j.max_iterations = (int)iterations;
    j.tolerance = tolerance;
    return j;
}

static struct grid grid_new(int size)
{
    struct grid g = {.size = size, .points = size * size};
    MPI_Comm_rank(MPI_COMM_WORLD, &g.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &g.ranks);
    g.mine = g.points / g.ranks + (g.rank < g.points % g.ranks);
    g.counts = get((size_t)g.ranks, sizeof(int));
    g.starts = get((size_t)g.ranks, sizeof(int));
    COLLECTIVE(MPI_Exscan(&g.mine, &g.first, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (g.rank == 0)
        g.first = 0; /* MPI_Exscan does not set it at rank 0 */
    COLLECTIVE(MPI_Allgather(&g.mine, 1, MPI_INT, g.counts, 1, MPI_INT, MPI_COMM_WORLD));
    COLLECTIVE(MPI_Allgather(&g.first, 1, MPI_INT, g.starts, 1, MPI_INT, MPI_COMM_WORLD));
    return g;
}

static void grid_free(struct grid *g)
{
    free(g->counts);
    free(g->starts);
}

/* out[0..n) = rows first..first+n of the matrix times the whole vector. */
static void apply(int size, const double *whole, int first, int n, double *out)
{
    for (int k = 0; k < n; k++) {
        int i = first + k, row = i / size, column = i % size;
        double sum = 4 * whole[i];
        if (row > 0)
            sum -= whole[i - size];
        if (row < size - 1)
            sum -= whole[i + size];
        if (column > 0)
            sum -= whole[i - 1];
        if (column < size - 1)
            sum -= whole[i + 1];
        out[k] = sum;
    }
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* A rough solution. A smooth one would converge in too few iterations for a test. */
static double exact(int i)
{
    uint32_t h = (uint32_t)(i + 1) * 2654435761u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    return h / 4294967296.0;
}

/* Scatters the right-hand side; returns this rank's block. */
static double *scatter_rhs(const struct grid *g)
{
    double *b = get((size_t)g->mine, sizeof *b), *all = NULL;
    if (g->rank == 0) {
        double *solution = get((size_t)g->points, sizeof *solution);
        all = get((size_t)g->points, sizeof *all);
        for (int i = 0; i < g->points; i++)
            solution[i] = exact(i);
        apply(g->size, solution, 0, g->points, all);
        free(solution);
    }
    COLLECTIVE(MPI_Scatterv(all, g->counts, g->starts, MPI_DOUBLE, b, g->mine, MPI_DOUBLE, 0,
                            MPI_COMM_WORLD));
    free(all);
    return b;
}

/* Solves for x, which starts at zero; r is the right-hand side on entry, then the residual. Returns
 * the number of iterations; *residual is relative. */
static int solve(const struct grid *g, const struct job *j, double *x, double *r, double *residual)
{
    int n = g->mine, iterations = 0;
    double *p = get((size_t)n, sizeof *p), *q = get((size_t)n, sizeof *q);
    double *whole = get((size_t)g->points, sizeof *whole);
    double local = dot(r, r, n), rr, start;
    COLLECTIVE(MPI_Allreduce(&local, &rr, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    start = rr;
    for (int i = 0; i < n; i++)
        p[i] = r[i];
    while (sqrt(rr) > j->tolerance * sqrt(start) && iterations < j->max_iterations) {
        double pq, next;
        MPI_Request request;
        COLLECTIVE(MPI_Allgatherv(p, n, MPI_DOUBLE, whole, g->counts, g->starts, MPI_DOUBLE,
                                  MPI_COMM_WORLD));
        apply(g->size, whole, g->first, n, q);
        local = dot(p, q, n);
        COLLECTIVE(MPI_Allreduce(&local, &pq, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        double alpha = rr / pq;
        for (int i = 0; i < n; i++)
            r[i] -= alpha * q[i];
        local = dot(r, r, n);
        COLLECTIVE(MPI_Iallreduce(&local, &next, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
        for (int i = 0; i < n; i++)
            x[i] += alpha * p[i];
        COLLECTIVE(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; i < n; i++)
            p[i] = r[i] + next / rr * p[i];
        rr = next;
        iterations++;
    }
    *residual = start > 0 ? sqrt(rr / start) : 0;
    free(whole);
    free(q);
    free(p);
    return iterations;
}

static double largest(double value)
{
    double most = 0;
    MPI_Reduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return most;
}

/* A weighted sum of the whole solution, on rank 0. */
static double checksum(const struct grid *g, const double *x)
{
    double sum = 0, *all = g->rank == 0 ? get((size_t)g->points, sizeof *all) : NULL;
    COLLECTIVE(MPI_Gatherv(x, g->mine, MPI_DOUBLE, all, g->counts, g->starts, MPI_DOUBLE, 0,
                           MPI_COMM_WORLD));
    for (int i = 0; all && i < g->points; i++)
        sum += all[i] * (1 + i % 7);
    free(all);
    return sum;
}

static int run(const struct job *j)
{
    double residual, error = 0;
    MPI_Barrier(MPI_COMM_WORLD); /* all ranks start the clock together */
    double start = MPI_Wtime();
    collective_time = 0;
    struct grid g = grid_new(j->size);
    double *x = get((size_t)g.mine, sizeof *x), *r = scatter_rhs(&g);
    int iterations = solve(&g, j, x, r, &residual);
    for (int i = 0; i < g.mine; i++)
        error = fmax(error, fabs(x[i] - exact(g.first + i)));
    COLLECTIVE(error = largest(error));
    double sum = checksum(&g, x);
    double seconds = largest(MPI_Wtime() - start), in_collectives = largest(collective_time);
    int converged = residual <= j->tolerance;
    if (g.rank == 0) {
        printf("ranks          %d\n", g.ranks);
        printf("grid           %d x %d\n", g.size, g.size);
        printf("iterations     %d\n", iterations);
        printf("residual       %.3e\n", residual);
        printf("max error      %.3e\n", error);
        printf("checksum       %.15e\n", sum);
        printf("seconds        %.3f\n", seconds);
        printf("in collectives %.3f\n", in_collectives);
        if (!converged)
            fprintf(stderr, "cg: not solved after %d iterations\n", iterations);
    }
    free(r);
    free(x);
    grid_free(&g);
    return converged ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct job j = {0};
    int rank, status = 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        j = read_arguments(argc, argv);
    COLLECTIVE(MPI_Bcast(&j, sizeof j, MPI_BYTE, 0, MPI_COMM_WORLD));
    if (j.ok)
        status = run(&j);
    MPI_Finalize();
    return status;
}
