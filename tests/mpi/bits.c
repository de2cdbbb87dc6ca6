/* bits.c: the same reduction of the same numbers gives the same bits, however often and whenever it is
 * called, in each form and on each kind of communicator; a nonblocking one from the first call on that comes after another
 * call which may wait. At the end rank 0 prints a fingerprint of all
 * results, for runs that are to give the same ones. `bits own`: by an operation of the user's, which looks at its type as
 * it may. With calls between that look the same to who counts calls: `own` by MPI's operation, `mixed` of integers. */
#include "testlib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20000, REPEATS = 12, NKINDS = 7 };

static double *in, *out, *spare;
static bool own, mixed;
static MPI_Op sum, in_order; /* the same, but it is not said to commute */
static uint64_t fingerprint = 14695981039346656037u;

static const char *const kind_name[NKINDS] = {
    "allreduce", "iallreduce", "reduce", "ireduce", "scan", "iscan", "reduce_scatter_block"};

static void add(void *a, void *b, int *n, MPI_Datatype *type)
{
    MPI_Datatype mine;
    int size;
    MPI_Type_dup(*type, &mine);
    MPI_Type_size(mine, &size);
    MPI_Type_free(&mine);
    for (int i = 0; i < *n && size == sizeof(double); i++)
        ((double *)b)[i] = ((double *)a)[i] + ((double *)b)[i];
}

/* Returns how many numbers of `out` are the result here. */
static int reduce(int kind, int n, int root, MPI_Comm comm)
{
    int p, me;
    MPI_Request q;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    switch (kind) {
    case 0:
        MPI_Allreduce(in, out, n, MPI_DOUBLE, sum, comm);
        return n;
    case 1:
        MPI_Iallreduce(in, out, n, MPI_DOUBLE, sum, comm, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        return n;
    case 2:
        MPI_Reduce(in, out, n, MPI_DOUBLE, sum, root, comm);
        return me == root ? n : 0;
    case 3:
        MPI_Ireduce(in, out, n, MPI_DOUBLE, sum, root, comm, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        return me == root ? n : 0;
    case 4:
        MPI_Scan(in, out, n, MPI_DOUBLE, sum, comm);
        return n;
    case 5:
        MPI_Iscan(in, out, n, MPI_DOUBLE, sum, comm, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        return n;
    default:
        MPI_Reduce_scatter_block(in, out, n / p, MPI_DOUBLE, sum, comm);
        return n / p;
    }
}

/* Calls of other kinds, so that what Skein knows of the communicator grows meanwhile. */
static void others(MPI_Comm comm, int i)
{
    int one = 1, most = 0;
    MPI_Request q;
    MPI_Bcast(&one, 1, MPI_INT, 0, comm);
    if (i % 3 == 0)
        MPI_Allreduce(&one, &most, 1, MPI_INT, MPI_MAX, comm);
    if (i % 4 == 0) {
        MPI_Ibarrier(comm, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
}

/* As long as a reduction of n doubles. When the others have been made once, by an operation that another algorithm, or the
 * host, may serve. */
static void look_alike(int kind, int n, int root, MPI_Comm comm, bool again)
{
    MPI_Datatype type = own ? MPI_DOUBLE : MPI_INT;
    MPI_Request q;
    int p, units = own ? n : 2 * n;
    MPI_Comm_size(comm, &p);
    if (!own && !mixed)
        return;
    switch (kind) {
    case 0:
        MPI_Allreduce(in, spare, units, type, MPI_SUM, comm);
        break;
    case 1:
        MPI_Iallreduce(in, spare, units, type, MPI_SUM, comm, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Reduce(in, spare, units, type, MPI_SUM, root, comm);
        break;
    case 4:
        MPI_Scan(in, spare, units, type, MPI_SUM, comm);
        break;
    case 5:
        MPI_Iscan(in, spare, units, type, own && again ? in_order : MPI_SUM, comm, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Reduce_scatter_block(in, spare, units / n * (n / p), type, MPI_SUM, comm);
    }
}

static void add_to_fingerprint(int n)
{
    const unsigned char *b = (const unsigned char *)out;
    for (size_t i = 0; i < (size_t)n * sizeof *out; i++)
        fingerprint = (fingerprint ^ b[i]) * 1099511628211u;
}

static bool is_nonblocking(int kind)
{
    return kind == 1 || kind == 3 || kind == 5;
}

static void repeat(MPI_Comm comm, const char *where, int first_kind)
{
    bool waited = comm == MPI_COMM_WORLD;
    static const int counts[] = {1, 64, 600, 1500, 5000, MOST};
    enum { NCOUNTS = sizeof counts / sizeof *counts };
    static double *first[NKINDS][NCOUNTS];
    int p;
    MPI_Comm_size(comm, &p);
    for (int i = 0; i < REPEATS; i++) {
        for (int k = 0; k < NKINDS; k++)
            for (int c = 0; c < NCOUNTS; c++) {
                int kind = (first_kind + k) % NKINDS;
                if (counts[c] < p)
                    continue;
                look_alike(kind, counts[c], (k + c) % p, comm, i > 0);
                int n = reduce(kind, counts[c], (k + c) % p, comm);
                size_t bytes = (size_t)n * sizeof *out;
                if (i == 0)
                    add_to_fingerprint(n);
                if (!first[kind][c]) {
                    if (!waited && is_nonblocking(kind))
                        continue;
                    waited = true;
                    first[kind][c] = must_alloc(bytes + 1);
                    memcpy(first[kind][c], out, bytes);
                } else
                    CHECK(memcmp(first[kind][c], out, bytes) == 0,
                          "%s on %s, %d doubles: call %d gives other bits than the first",
                          kind_name[kind], where, counts[c], i + 1);
            }
        others(comm, i);
    }
    for (int k = 0; k < NKINDS; k++)
        for (int c = 0; c < NCOUNTS; c++) {
            free(first[k][c]);
            first[k][c] = NULL;
        }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "bits");
    test_watch(60, "reductions");
    int me = test_rank(), p = test_size(), none = 0;
    own = argc > 1 && strcmp(argv[1], "own") == 0;
    mixed = argc > 1 && strcmp(argv[1], "mixed") == 0;
    sum = MPI_SUM;
    if (own)
        MPI_Op_create(add, 1, &sum);
    MPI_Op_create(add, 0, &in_order);
    in = must_alloc(MOST * sizeof *in);
    out = must_alloc(MOST * sizeof *out);
    spare = must_alloc(MOST * sizeof *spare);
    rng r = rng_seed(5, (uint64_t)me, 0);
    for (int i = 0; i < MOST;
         i++) /* of very different sizes, so that each order rounds otherwise */
        in[i] = ((double)rng_next(&r) / 1e19 - 1) * (double)(1ULL << rng_below(&r, 50));
    MPI_Comm comm;
    repeat(MPI_COMM_WORLD, "MPI_COMM_WORLD", 0);
    for (int first_kind = 0; first_kind < NKINDS; first_kind++) { /* the first call of a new one */
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        repeat(comm, "a duplicate", first_kind);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, p - me, &comm);
    repeat(comm, "the ranks in reverse", 0);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, me == p - 1 && p > 2, me, &comm);
    repeat(comm, "all ranks but one", 1);
    MPI_Comm_free(&comm);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &none, 0, &comm);
    repeat(comm, "a Cartesian communicator", 0);
    MPI_Comm_free(&comm);
    uint64_t all = 0;
    MPI_Reduce(&fingerprint, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("bits: fingerprint %016llx\n", (unsigned long long)all);
    if (own)
        MPI_Op_free(&sum);
    MPI_Op_free(&in_order);
    free(in);
    free(out);
    free(spare);
    return test_end();
}
