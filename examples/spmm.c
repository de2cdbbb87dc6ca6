/* spmm.c: a sparse matrix times a dense one, Z = X * Y, an ordinary MPI program.
 *
 * X is read from a Matrix Market file. All three matrices are divided into blocks of rows, one per
 * rank. To multiply its rows of X, a rank needs the rows of Y in the columns of its nonzeros. The
 * ranks that own these rows become its neighbours in a graph, and MPI_Neighbor_allgather gathers
 * their blocks (as in section VII-C of the paper on distance halving). Y is a formula, a new one in
 * each repetition, so every rank can check its rows of Z against it.
 *
 *   mpicc -Isrc -I. -D_GNU_SOURCE examples/spmm.c lab/graph/mtx*.c src/base/numbers.c -o spmm -lm
 *   mpirun -n 4 ./spmm matrix.mtx 8 */
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/graph/mtx.h"

enum { MAX_WIDTH = 4096, MAX_REPEATS = 100000 };

typedef struct job {
    int ok; /* 0: the arguments or the file were wrong */
    int n, nnz, width, repeats;
} job;

typedef struct part {
    int rank, ranks;
    int n, width;    /* Y and Z are n x width */
    int first, mine; /* my rows */
    int most;        /* rows of the longest block, to which all are padded */
    int *length;     /* of each of my rows */
    int nnz, *col;
    double *val;

    MPI_Comm graph;
    int nsources, ntargets;
    double *y;      /* blocks of Y: mine, then those of my sources */
    double **y_row; /* of each nonzero: the row of Y that it is multiplied with */
    double *z;
} part;

static void *get(size_t count, size_t bytes)
{
    void *p = calloc(count ? count : 1, bytes);
    if (!p) {
        fprintf(stderr, "spmm: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* Rows are distributed as evenly as possible, the longer blocks first. */
static int first_row(int n, int ranks, int rank)
{
    return rank * (n / ranks) + (rank < n % ranks ? rank : n % ranks);
}

static int owner(int n, int ranks, int row)
{
    int each = n / ranks, longer = n % ranks, start = longer * (each + 1);
    return row < start ? row / (each + 1) : longer + (row - start) / each;
}

static double y_at(int row, int column, int repeat)
{
    return (double)((row * 31LL + column * 17LL + repeat * 7LL) % 1009) / 1009 - 0.5;
}

static int read_number(const char *text, int most, int *value)
{
    char *end;
    long number = strtol(text, &end, 10);
    *value = (int)number;
    return end != text && !*end && number >= 1 && number <= most;
}

/* Reads the arguments and the file, on rank 0. */
static job read_job(int argc, char **argv, sk_mtx *x)
{
    job j = {.width = 8, .repeats = 10};
    char err[512];
    if (argc < 2 || argc > 4 || (argc > 2 && !read_number(argv[2], MAX_WIDTH, &j.width)) ||
        (argc > 3 && !read_number(argv[3], MAX_REPEATS, &j.repeats))) {
        fprintf(stderr,
                "usage: spmm FILE [WIDTH [REPEATS]]\n"
                "FILE     a square matrix X, in the Matrix Market format\n"
                "WIDTH    columns of Y, 1 to %d (8)\n"
                "REPEATS  how often to multiply, 1 to %d (10)\n",
                MAX_WIDTH, MAX_REPEATS);
        return j;
    }
    if (sk_mtx_read(argv[1], x, err, sizeof err)) {
        fprintf(stderr, "spmm: %s\n", err);
        return j;
    }
    if (x->nrows != x->ncols || x->nrows < 1)
        fprintf(stderr, "spmm: %s: has %lld rows and %lld columns; it must be square\n", argv[1],
                (long long)x->nrows, (long long)x->ncols);
    else if (x->nnz > INT_MAX)
        fprintf(stderr, "spmm: %s: has more than %d nonzeros\n", argv[1], INT_MAX);
    else if (x->nrows * j.width > INT_MAX)
        fprintf(stderr, "spmm: %s: with %d columns, Y has more than %d values\n", argv[1], j.width,
                INT_MAX);
    else
        j.ok = 1;
    j.n = (int)x->nrows;
    j.nnz = (int)x->nnz;
    return j;
}

/* Rank 0 scatters the lengths of the rows and their entries. */
static void distribute(part *p, const sk_mtx *x)
{
    int *rows = get((size_t)p->ranks, sizeof *rows), *row_at = get((size_t)p->ranks, sizeof *rows);
    int *nnz = get((size_t)p->ranks, sizeof *nnz), *nnz_at = get((size_t)p->ranks, sizeof *nnz);
    int *length = NULL;
    for (int r = 0; r < p->ranks; r++) {
        row_at[r] = first_row(p->n, p->ranks, r);
        rows[r] = first_row(p->n, p->ranks, r + 1) - row_at[r];
    }
    p->first = row_at[p->rank];
    p->mine = rows[p->rank];
    p->most = rows[0];
    if (p->rank == 0) {
        length = get((size_t)p->n, sizeof *length);
        for (int i = 0; i < p->n; i++)
            length[i] = (int)(x->row[i + 1] - x->row[i]);
        for (int r = 0; r < p->ranks; r++) {
            nnz_at[r] = (int)x->row[row_at[r]];
            nnz[r] = (int)x->row[row_at[r] + rows[r]] - nnz_at[r];
        }
    }
    p->length = get((size_t)p->mine, sizeof *p->length);
    MPI_Scatterv(length, rows, row_at, MPI_INT, p->length, p->mine, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < p->mine; i++)
        p->nnz += p->length[i];
    p->col = get((size_t)p->nnz, sizeof *p->col);
    p->val = get((size_t)p->nnz, sizeof *p->val);
    MPI_Scatterv(x->col, nnz, nnz_at, MPI_INT, p->col, p->nnz, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatterv(x->val, nnz, nnz_at, MPI_DOUBLE, p->val, p->nnz, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(rows);
    free(row_at);
    free(nnz);
    free(nnz_at);
    free(length);
}

/* My sources own the rows of Y in the columns of my nonzeros. The number of these nonzeros is the
 * weight of the edge. An alltoall of the weights tells each rank its targets. */
static void connect_ranks(part *p)
{
    size_t ranks = (size_t)p->ranks, block = (size_t)p->most * (size_t)p->width;
    int *needs = get(ranks, sizeof *needs), *needed = get(ranks, sizeof *needed);
    int *sources = get(ranks, sizeof *sources), *targets = get(ranks, sizeof *targets);
    int *index = get(ranks, sizeof *index); /* of a rank's block in p->y; mine is the first */
    for (int i = 0; i < p->nnz; i++)
        needs[owner(p->n, p->ranks, p->col[i])]++;
    needs[p->rank] = 0;
    MPI_Alltoall(needs, 1, MPI_INT, needed, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < p->ranks; r++) {
        if (needs[r]) {
            sources[p->nsources] = r;
            needs[p->nsources++] = needs[r];
            index[r] = p->nsources;
        }
        if (needed[r]) {
            targets[p->ntargets] = r;
            needed[p->ntargets++] = needed[r];
        }
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, p->nsources, sources, needs, p->ntargets,
                                   targets, needed, MPI_INFO_NULL, 0, &p->graph);

    p->y = get((size_t)(p->nsources + 1) * block, sizeof *p->y);
    p->z = get((size_t)p->mine * (size_t)p->width, sizeof *p->z);
    p->y_row = get((size_t)p->nnz, sizeof *p->y_row);
    for (int i = 0; i < p->nnz; i++) {
        int from = owner(p->n, p->ranks, p->col[i]);
        int row = p->col[i] - first_row(p->n, p->ranks, from);
        p->y_row[i] = p->y + (size_t)index[from] * block + (size_t)row * (size_t)p->width;
    }
    free(needs);
    free(needed);
    free(sources);
    free(targets);
    free(index);
}

static void fill(part *p, int repeat)
{
    for (int i = 0; i < p->mine; i++)
        for (int k = 0; k < p->width; k++)
            p->y[(size_t)i * (size_t)p->width + (size_t)k] = y_at(p->first + i, k, repeat);
}

static void multiply(part *p)
{
    const double *val = p->val;
    double *const *y = p->y_row;
    double *z = p->z;
    for (int i = 0; i < p->mine; i++, z += p->width) {
        memset(z, 0, (size_t)p->width * sizeof *z);
        for (int e = 0; e < p->length[i]; e++, val++, y++)
            for (int k = 0; k < p->width; k++)
                z[k] += *val * (*y)[k];
    }
}

/* The number of my values that differ from the formula. */
static int count_wrong(const part *p, int repeat)
{
    int wrong = 0;
    for (int i = 0, start = 0; i < p->mine; start += p->length[i++])
        for (int k = 0; k < p->width; k++) {
            double sum = 0, size = 0;
            for (int e = start; e < start + p->length[i]; e++) {
                double term = p->val[e] * y_at(p->col[e], k, repeat);
                sum += term;
                size += fabs(term);
            }
            double off = fabs(p->z[(size_t)i * (size_t)p->width + (size_t)k] - sum);
            wrong += !(off <= 1e-12 * size);
        }
    return wrong;
}

/* Rank 0 adds row after row, so that the sum does not depend on the number of ranks. */
static double checksum(const part *p)
{
    int *rows = get((size_t)p->ranks, sizeof *rows), *at = get((size_t)p->ranks, sizeof *at);
    double *mine = get((size_t)p->mine, sizeof *mine), *all = get((size_t)p->n, sizeof *all);
    double sum = 0;
    for (int r = 0; r < p->ranks; r++) {
        at[r] = first_row(p->n, p->ranks, r);
        rows[r] = first_row(p->n, p->ranks, r + 1) - at[r];
    }
    for (int i = 0; i < p->mine; i++)
        for (int k = 0; k < p->width; k++)
            mine[i] += p->z[(size_t)i * (size_t)p->width + (size_t)k] * (k % 5 + 1);
    MPI_Gatherv(mine, p->mine, MPI_DOUBLE, all, rows, at, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; p->rank == 0 && i < p->n; i++)
        sum += all[i] * (i % 7 + 1);
    free(rows);
    free(at);
    free(mine);
    free(all);
    return sum;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over the repetitions of the time of the slowest rank. */
static double median(double *seconds, int n)
{
    MPI_Allreduce(MPI_IN_PLACE, seconds, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    qsort(seconds, (size_t)n, sizeof *seconds, by_size);
    return seconds[n / 2];
}

static void print_neighbours(const part *p)
{
    int least, most, sum;
    MPI_Reduce(&p->nsources, &least, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&p->nsources, &most, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&p->nsources, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (p->rank == 0) {
        printf("neighbours     %d to %d, mean %.1f\n", least, most, (double)sum / p->ranks);
        printf("block          %zu bytes\n", sizeof(double) * (size_t)p->most * (size_t)p->width);
    }
}

/* Multiplies `repeats` times. Returns the number of wrong values on all ranks. */
static int run(part *p, int repeats, double *gather, double *product)
{
    int block = p->most * p->width, wrong = 0;
    for (int i = 0; i < repeats; i++) {
        fill(p, i);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        MPI_Neighbor_allgather(p->y, block, MPI_DOUBLE, p->y + block, block, MPI_DOUBLE, p->graph);
        gather[i] = MPI_Wtime() - start;
        multiply(p);
        product[i] = MPI_Wtime() - start;
        wrong += count_wrong(p, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return wrong;
}

static int solve(const job *j, const sk_mtx *x)
{
    part p = {.n = j->n, .width = j->width};
    double *gather = get((size_t)j->repeats, sizeof *gather);
    double *product = get((size_t)j->repeats, sizeof *product);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
    distribute(&p, x);
    connect_ranks(&p);
    if (p.rank == 0) {
        printf("ranks          %d\n", p.ranks);
        printf("matrix         %d x %d\n", p.n, p.n);
        printf("nonzeros       %d\n", j->nnz);
        printf("width          %d\n", p.width);
    }
    print_neighbours(&p);

    int wrong = run(&p, j->repeats, gather, product);
    double sum = checksum(&p), together = median(product, j->repeats);
    double gathered = median(gather, j->repeats);
    if (p.rank == 0) {
        printf("wrong values   %d\n", wrong);
        printf("checksum       %.15e\n", sum);
        printf("us per product %.1f\n", together * 1e6);
        printf("us in gather   %.1f\n", gathered * 1e6);
    }
    MPI_Comm_free(&p.graph);
    free(p.length);
    free(p.col);
    free(p.val);
    free(p.y);
    free(p.z);
    free(p.y_row);
    free(gather);
    free(product);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    int rank, result = 1;
    sk_mtx x = {0};
    job j = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        j = read_job(argc, argv, &x);
    MPI_Bcast(&j, sizeof j / sizeof(int), MPI_INT, 0, MPI_COMM_WORLD);
    if (j.ok)
        result = solve(&j, &x);
    sk_mtx_free(&x);
    MPI_Finalize();
    return result;
}
