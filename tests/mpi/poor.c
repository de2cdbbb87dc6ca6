/* poor.c: a default that is a poor one is corrected while the program runs: calls of one collective, form and size, of which
 * settings have Skein choose a slow algorithm.
 *   poor FORM COLLECTIVE BYTES CALLS [ALGORITHM]    blocking, nonblocking or persistent. ALGORITHM, the poor one, must serve
 *                                                   less than a quarter of the last half of the calls, on one of three
 *                                                   communicators: a comparison may be disturbed
 * Rank 0 prints what a call takes on the slowest rank: the mean of the first 50, and of the last quarter. Nonblocking calls
 * are compared at blocking ones, so there is a barrier after some calls, in all forms; it is not timed. poor.sh runs it with
 * poor and with good settings. */
#include "coll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 10, FIRST = 50 }; /* calls between barriers; the first ones */

static long long count(const char *coll, const char *algo)
{
    char name[64];
    long long n = 0;
    snprintf(name, sizeof name, "%s:%s", coll, algo);
    return test_counter(name, &n) ? n : 0;
}

static void fill(int *v, int n, int k)
{
    for (int i = 0; i < n; i++)
        v[i] = test_rank() + 3 * i + k;
}

static int is_right(const args *a, const int *out, int n, int k)
{
    int p = test_size(), sum = p * (p - 1) / 2, right = 1, last = n - 1;
    if (a->coll == C_ALLREDUCE)
        right = out[0] == sum + p * k && out[last] == sum + p * (3 * last + k);
    else if (a->coll == C_BCAST)
        right = out[0] == k && out[last] == 3 * last + k;
    for (int r = 0; a->coll == C_ALLGATHER && r < p; r++)
        right &= out[r * n] == r + k && out[r * n + last] == r + 3 * last + k;
    for (int r = 0; a->coll == C_ALLTOALL && r < p; r++)
        right &= out[r * n] == r + 3 * test_rank() * n + k;
    return right;
}

/* Seconds of a call, on this rank, in a row of them. */
static double row(const args *a, form f, MPI_Request *q, int k)
{
    double since = PMPI_Wtime();
    for (int i = 0; i < ROW; i++) {
        test_watch(60, "%s %s %d", form_name(f, false), coll_name(a->coll), k + i);
        if (f == F_PERSISTENT)
            MPI_Start(q);
        else
            coll_call(a, f, false, q);
        if (f != F_BLOCKING)
            MPI_Wait(q, MPI_STATUS_IGNORE);
    }
    return (PMPI_Wtime() - since) / ROW;
}

typedef struct times {
    double first, last; /* sums */
    int nfirst, nlast;
} times;

static void print(const args *a, form f, int bytes, const times *mine)
{
    double mean[2] = {mine->first / mine->nfirst, mine->last / mine->nlast}, all[2];
    PMPI_Allreduce(mean, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (test_rank() == 0)
        printf("poor: %s %s %d bytes, %d ranks: first %.2f us, then %.2f us\n", form_name(f, false),
               coll_name(a->coll), bytes, test_size(), 1e6 * all[0], 1e6 * all[1]);
}

/* How many of the last half of the calls the poor algorithm has served, at most at any rank. */
static long long run(const args *a, form f, int bytes, int calls, const char *poor)
{
    int n = a->ints.rcount, blocks = a->coll == C_ALLTOALL ? test_size() : 1;
    int *in = a->coll == C_BCAST ? a->rbuf : (int *)(uintptr_t)a->sbuf;
    long long by_poor = 0;
    times t = {0};
    MPI_Request q = MPI_REQUEST_NULL;
    if (f == F_PERSISTENT)
        coll_call(a, f, false, &q);
    for (int k = 0; k < calls; k += ROW) {
        fill(in, n * blocks, k);
        if (k == calls / 2 / ROW * ROW)
            by_poor = count(coll_name(a->coll), poor);
        double took = row(a, f, &q, k);
        if (k < FIRST)
            t.first += took, t.nfirst++;
        if (k >= calls - calls / 4 || k + ROW >= calls)
            t.last += took, t.nlast++;
        CHECK(is_right(a, a->rbuf, n, k), "call %d gives a wrong result", k);
        MPI_Barrier(a->comm);
    }
    if (f == F_PERSISTENT)
        MPI_Request_free(&q);
    by_poor = count(coll_name(a->coll), poor) - by_poor;
    print(a, f, bytes, &t);
    PMPI_Allreduce(MPI_IN_PLACE, &by_poor, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    return by_poor;
}

static void on_communicators(args *a, form f, int bytes, int calls, const char *poor)
{
    long long served = calls;
    for (int i = 0; i < (*poor ? 3 : 1) && served >= calls / 8; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &a->comm);
        served = run(a, f, bytes, calls, poor);
        MPI_Comm_free(&a->comm);
    }
    CHECK(!*poor || served < calls / 8, "%s has served %lld of the last %d calls", poor, served,
          calls / 2);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "poor");
    form f = F_BLOCKING;
    while (argc > 4 && f < NFORMS && strcmp(argv[1], form_name(f, false)) != 0)
        f++;
    coll c = argc > 4 ? coll_find(argv[2]) : NCOLLS;
    if (f == NFORMS || (c != C_ALLREDUCE && c != C_BCAST && c != C_ALLGATHER && c != C_ALLTOALL)) {
        test_fail("usage: poor FORM allreduce|bcast|allgather|alltoall BYTES CALLS [ALGORITHM]");
        return test_end();
    }
    int bytes = atoi(argv[3]), n = bytes / (int)sizeof(int), calls = atoi(argv[4]);
    size_t all = (size_t)bytes * (size_t)test_size();
    void *in = must_alloc(all), *out = must_alloc(all);
    args a = {
        .coll = c, .sbuf = in, .rbuf = out, .stype = MPI_INT, .rtype = MPI_INT, .op = MPI_SUM};
    a.ints.scount = a.ints.rcount = n;
    if (form_exists(c, f, false) && n > 0)
        on_communicators(&a, f, bytes, calls, argc > 5 ? argv[5] : "");
    else
        test_skip("there is no %s %s here", form_name(f, false), coll_name(c));
    free(in);
    free(out);
    return test_end();
}
